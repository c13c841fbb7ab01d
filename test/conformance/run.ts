// Runs a list of cases some times, and says what came of it.

import { countOf, giveUp, optionsOfCommand } from '../help/command-options.ts'
import type { Case, Verdict } from './case.ts'
import { type Target, type TargetName, targetNames } from './targets.ts'

export interface Options {
  readonly target: TargetName
  readonly tls: boolean
  readonly runs: number
  /** Sections that begin like this alone; empty for all. */
  readonly only: string
  readonly isVerbose: boolean
}

/** Cases at a time: those that fail wait. */
const atOnce = 8

/** Reads what the command was given, before anything is started for its cases. */
export function optionsOf(cases: readonly Case[]): Options {
  const { values } = optionsOfCommand({
    options: {
      target: { type: 'string', default: 'gatehouse' },
      tls: { type: 'boolean', default: false },
      runs: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      verbose: { type: 'boolean', default: false },
    },
  })
  const target = targetNames.find(name => name === values.target)
  if (target === undefined) giveUp(`--target must be one of ${targetNames.join(', ')}`)
  const { tls, only } = values
  if (!idsOf(cases).some(id => id.startsWith(only))) giveUp(`--only: no case is of section ${only}`)
  return { target, tls, runs: countOf('--runs', values.runs), only, isVerbose: values.verbose }
}

/** Numbers cases within their sections: `6.5.2/3`. */
export function idsOf(cases: readonly Case[]): readonly string[] {
  const counts = new Map<string, number>()
  return cases.map(({ section }) => {
    const count = (counts.get(section) ?? 0) + 1
    counts.set(section, count)
    return `${section}/${count}`
  })
}

/** Runs some cases at a time; returns what came of each, in their order. */
export async function inTurns<Kind, Result>(
  cases: readonly Kind[],
  run: (of: Kind, i: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  const queue = cases.entries()
  const work = async () => {
    for (const [i, of] of queue) results[i] = await run(of, i)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return results
}

/** An address of loopback for each case: servers count by address. */
export function addressOf(n: number): string {
  return `127.${1 + ((n >> 16) & 127)}.${(n >> 8) & 255}.${1 + (n % 254)}`
}

/** Runs cases against a target, prints what did not pass, and sets the exit code. */
export async function runCases<Kind extends Case>(
  cases: readonly Kind[],
  { runs, only, isVerbose }: Options,
  { name, version }: Target,
  words: (of: Kind) => string,
  run: (of: Kind, from: string) => Promise<Verdict | null>,
): Promise<void> {
  const ids = idsOf(cases)
  const wanted = cases.map((of, i) => ({ of, id: ids[i]! })).filter(({ id }) => id.startsWith(only))
  // Of TLS and of plain TCP there are others.
  if (wanted.length === 0) {
    console.error(`--only: no case is of section ${only}`)
    process.exitCode = 2
    return
  }
  const counts = { passed: 0, otherwise: 0, optional: 0, failed: 0 }
  let number = 0
  for (let round = 0; round < runs; round++)
    await inTurns(wanted, async ({ of, id }) => {
      const verdict = await run(of, addressOf(number++))
      if (verdict === null) return
      const { result, note } = verdict
      const outcome = result !== 'passed' && of.level !== 'MUST' ? 'optional' : result
      counts[outcome]++
      if (outcome !== 'passed' || isVerbose)
        console.log(
          `${outcome}  ${id}  ${of.title} [${of.level}: ${words(of)}]${note && `: ${note.slice(0, 200)}`}`,
        )
    })
  const { passed, otherwise, optional, failed } = counts
  console.log(
    `${name} ${version}: ${passed} passed, ${otherwise} refused by another code or none, ${optional} optional not done, ${failed} failed`,
  )
  if (otherwise + optional + failed > 0) process.exitCode = 1
}
