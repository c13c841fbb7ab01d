// Evaluates conditions for each reading of a path by origins, so that none slips through.

import type { Expression, Facts } from './expression.ts'
import type { Work } from './work-budget.ts'

/** The readings of a path (`path-readings.ts`), computed on first use; null for too many. */
export interface Read {
  readonly paths: readonly string[] | null
  /** The work left for all conditions of the request. */
  readonly work: Work
}

/** Null if it fails, or there are too many readings, and it holds for none. */
export function holdsForAny(condition: Expression<boolean>, facts: Facts, read: Read): boolean | null {
  return evaluate(condition, facts, read, true)
}

/** Null if it fails, or there are too many readings, and it is false for none. */
export function holdsForAll(condition: Expression<boolean>, facts: Facts, read: Read): boolean | null {
  return evaluate(condition, facts, read, false)
}

/** Evaluates until one result equals `decisive`. */
function evaluate(
  condition: Expression<boolean>,
  facts: Facts,
  read: Read,
  decisive: boolean,
): boolean | null {
  if (!condition.readsPath) return condition.evaluate(facts, read.work)
  const { paths } = read
  if (paths === null) return null
  if (paths.length === 1) return condition.evaluate(facts, read.work)
  let result: boolean | null = !decisive
  for (const path of paths) {
    const value = condition.evaluate(facts, read.work, path)
    if (value === decisive) return decisive
    if (value === null) result = null
  }
  return result
}
