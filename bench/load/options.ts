// Reads the command line of the bench, for run.ts.
import { parseArgs } from 'node:util'
import { AI_MIXES, MIX_NAMES } from './mixes.ts'

export interface Options {
  /** Names of mixes, and `start`, `soak` and `scan`. */
  readonly parts: readonly string[]
  readonly peers: readonly string[]
  readonly rounds: number
  readonly seconds: number
  /** Whether everything is measured that the report shows, so that it may replace the last one. */
  readonly complete: boolean
  /** Whether what a narrowed run finds is added to the last report. */
  readonly add: boolean
}

const PARTS: readonly string[] = [...MIX_NAMES, 'start', 'soak', 'scan']
const GROUPS: ReadonlyMap<string, readonly string[]> = new Map([['ai', [...AI_MIXES, 'scan']]])

export const USAGE = `npm run bench -- [options]
  --only LIST     of ${PARTS.join(', ')} (all but soak), or ai for what is about AI gateways
  --peers LIST    of the proxies and gateways, by name (all)
  --rounds N      rounds of every mix (3)
  --seconds N     length of one measurement (2)
  --quick         one round of one second
  --add           adds what a narrowed run finds to the last results
  --soak          memory over two million requests as well
A run that is narrowed or quick only prints, without --add; a whole one also writes bench/results, README.md and docs/benchmarks.md.`

/** Returns the options, or a sentence that says what is wrong with them. */
export function parseOptions(args: readonly string[], peers: readonly string[]): Options | string {
  const given = readArgs(args)
  if (typeof given === 'string') return given
  const named = given.only?.split(',') ?? PARTS.filter(part => part !== 'soak')
  const chosen = named.flatMap(name => GROUPS.get(name) ?? [name])
  const options = {
    parts: given.soak === true ? [...new Set([...chosen, 'soak'])] : chosen,
    peers: given.peers?.split(',') ?? peers,
    rounds: Number(given.rounds ?? (given.quick ? 1 : 3)),
    seconds: Number(given.seconds ?? (given.quick ? 1 : 2)),
    complete: !(given.only || given.peers || given.quick),
    add: given.add === true,
  }
  return mistake(options, peers) ?? options
}

/** Says which of the two counts is no whole number from one on, or returns null. */
export function countMistake({ rounds, seconds }: { rounds: number; seconds: number }): string | null {
  if (!isCount(rounds)) return '--rounds must be a whole number from 1'
  return isCount(seconds) ? null : '--seconds must be a whole number from 1'
}

function readArgs(args: readonly string[]) {
  const options = {
    only: { type: 'string' },
    peers: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    quick: { type: 'boolean' },
    add: { type: 'boolean' },
    soak: { type: 'boolean' },
  } as const
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    return (error as Error).message
  }
}

function mistake(options: Options, peers: readonly string[]): string | null {
  const part = options.parts.find(name => !PARTS.includes(name))
  if (part !== undefined) return `--only: there is no ${part}; there are ${PARTS.join(', ')}`
  const peer = options.peers.find(name => !peers.includes(name))
  if (peer !== undefined) return `--peers: there is no ${peer}; there are ${peers.join(', ')}`
  return countMistake(options)
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1
}
