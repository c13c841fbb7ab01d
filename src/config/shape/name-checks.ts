// Checks names against each other: each is unique, and refers to something that exists.

import { didYouMean } from '../../base/text/nearest.ts'
import { type Findings, isOutside, type Place } from '../file/mistake.ts'
import type { Placed } from './shape.ts'

/** Records a mistake at each value that duplicates an earlier one; the rule says why it must not. */
export function refuseRepeats(items: Iterable<Placed<string>>, rule: string, findings: Findings): void {
  const seen = new Map<string, Placed<string>>()
  for (const item of items) {
    const first = seen.get(item.value)
    if (first === undefined) seen.set(item.value, item)
    else if (!findings.concern(item.path)) findings.flaw(item, `duplicates ${whereabouts(first)}; ${rule}`)
  }
}

/** Records a mistake at an unknown name; `what` is a phrase for the kind of thing, such as "a pool". */
export function refuseUnknown(
  name: Placed<string>,
  names: readonly string[],
  what: string,
  findings: Findings,
): void {
  if (names.includes(name.value)) return
  const choice = names.length === 0 ? ' (none is configured)' : ` (${names.join(', ')})`
  const hint = didYouMean(name.value, names)
  findings.flaw(name, `must be the name of ${what}${choice}; got ${name.shown}${hint}`)
}

/** Sorts by position in the file. */
export function byLine(a: Placed<string>, b: Placed<string>): number {
  return a.line - b.line
}

/** Returns the position of a setting, or that it is a default; outside of the file, its name. */
export function whereabouts({ path, line }: Place): string {
  if (isOutside(path)) return path
  return line === 0 ? `the default of ${path}` : `${path} on line ${line}`
}
