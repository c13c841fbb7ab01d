// Reads the command line of the bench, for run.ts.
import { parseArgs } from 'node:util'
import { FIGURES } from '../figures/figures.ts'
import { looks } from '../interleaved/interval.ts'
import { HEATS } from './heats.ts'
import { ROUND_MIXES } from './mixes.ts'

export interface Options {
  /** Names of heats, of mixes that are measured in rounds and of figures, and `profile`, `start`, `soak` and `scan`. */
  readonly parts: readonly string[]
  readonly peers: readonly string[]
  readonly rounds: number
  readonly seconds: number
  /** Blocks after which a ratio may stay undecided, and milliseconds of a slice. */
  readonly blocks: number
  readonly slice: number
  /** How often the contestants of a heat are started. */
  readonly launches: number
  /** Minutes that the whole run is meant to take; null where it takes as long as its blocks do. */
  readonly minutes: number | null
  readonly isQuick: boolean
  readonly json: boolean
  /** Whether everything is measured that the report shows, so that it may replace the last one. */
  readonly complete: boolean
  /** Whether what a narrowed run finds is added to the last report. */
  readonly add: boolean
}

const PARTS: readonly string[] = [
  ...new Set([
    ...HEATS.map(({ name }) => name),
    ...ROUND_MIXES,
    'profile',
    'start',
    'soak',
    'scan',
    ...FIGURES.keys(),
  ]),
]
const GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ['ai', ['chat', 'eight', 'alias', 'unknown', 'ttft', 'steady', 'profile', 'scan', 'frontier']],
])

export const USAGE = `npm run bench -- [options]
  --only LIST     of ${PARTS.join(', ')} (all but soak), or ai for what is about AI gateways
  --peers LIST    of the proxies and gateways, by name (all)
  --blocks N      blocks after which a ratio may stay undecided; it looks after ${looks.join(', ')} (40)
  --minutes N     ends heats so that the whole run takes so long, but no heat before ${looks[0]} blocks
  --launches N    how often the contestants of a heat are started; with more than 1, each launch has ${looks[0]} blocks and is one value
                  of the intervals (1)
  --slice N       milliseconds of a slice; a block has two of each contestant (100)
  --rounds N      rounds of ${ROUND_MIXES.join(', ')} (3)
  --seconds N     length of one of them (2)
  --quick         ten blocks, one round of one second, and a short profile
  --json          prints JSON in place of tables
  --add           adds what a narrowed run finds to the last results
  --soak          memory over five million requests as well
A run that is narrowed or quick only prints, without --add; a whole one also writes bench/results, README.md and docs/benchmarks.md.`

/** Returns the options, or a sentence that says what is wrong with them. */
export function parseOptions(args: readonly string[], peers: readonly string[]): Options | string {
  const given = readArgs(args)
  if (typeof given === 'string') return given
  const named = given.only?.split(',') ?? PARTS.filter(part => part !== 'soak')
  const chosen = named.flatMap(name => GROUPS.get(name) ?? [name])
  const options = {
    isQuick: given.quick === true,
    json: given.json === true,
    blocks: Number(given.blocks ?? (given.quick ? 10 : 40)),
    slice: Number(given.slice ?? 100),
    launches: Number(given.launches ?? 1),
    minutes: given.minutes === undefined ? null : Number(given.minutes),
    parts: given.soak === true ? [...new Set([...chosen, 'soak'])] : chosen,
    peers: given.peers?.split(',') ?? peers,
    rounds: Number(given.rounds ?? (given.quick ? 1 : 3)),
    seconds: Number(given.seconds ?? (given.quick ? 1 : 2)),
    complete: !(given.only || given.peers || given.quick),
    add: given.add === true,
  }
  return mistake(options, peers) ?? options
}

/** Says which of the counts is no whole number in its range, or returns null. */
function countMistake({ rounds, seconds, blocks, slice, launches, minutes }: Options): string | null {
  if (!isFrom(1, rounds)) return '--rounds must be a whole number from 1'
  if (!isFrom(1, seconds)) return '--seconds must be a whole number from 1'
  if (!isFrom(looks[0]!, blocks)) return `--blocks must be a whole number from ${looks[0]}`
  if (launches !== 1 && !isFrom(4, launches)) return '--launches must be 1 or a whole number from 4'
  if (minutes !== null && !isFrom(1, minutes)) return '--minutes must be a whole number from 1'
  return isFrom(20, slice) ? null : '--slice must be a whole number from 20'
}

function readArgs(args: readonly string[]) {
  const options = {
    only: { type: 'string' },
    peers: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    blocks: { type: 'string' },
    slice: { type: 'string' },
    launches: { type: 'string' },
    minutes: { type: 'string' },
    json: { type: 'boolean' },
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

function isFrom(least: number, value: number): boolean {
  return Number.isInteger(value) && value >= least
}
