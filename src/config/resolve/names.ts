// What holds of names among themselves: each stands once, and leads somewhere.

import { didYouMean, type Findings, type Place } from '../file/mistake.ts'
import type { Placed } from '../settings/shape.ts'

/** Notes a mistake at each value that an earlier one has already; the rule says why it cannot. */
export function refuseRepeats(items: Iterable<Placed<string>>, rule: string, findings: Findings): void {
  const seen = new Map<string, Placed<string>>()
  for (const item of items) {
    const first = seen.get(item.value)
    if (first === undefined) seen.set(item.value, item)
    else if (!findings.concern(item.path)) findings.flaw(item, `duplicates ${whereabouts(first)}; ${rule}`)
  }
}

/** Notes a mistake at a name that is none of the known ones, which are called by a phrase such as "a pool". */
export function refuseUnknown(
  name: Placed<string>,
  known: readonly string[],
  what: string,
  findings: Findings,
): void {
  if (known.includes(name.value)) return
  const choice = known.length === 0 ? ' (none is configured)' : ` (${known.join(', ')})`
  const hint = didYouMean(name.value, known)
  findings.flaw(name, `must be the name of ${what}${choice}; got ${name.shown}${hint}`)
}

/** Orders what stands in several places as the file does. */
export function byLine(a: Placed<string>, b: Placed<string>): number {
  return a.line - b.line
}

/** Returns where a setting stands, or that it is a default. */
export function whereabouts({ path, line }: Place): string {
  return line === 0 ? `the default of ${path}` : `${path} on line ${line}`
}
