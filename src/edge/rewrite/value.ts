// The value of a rewrite expression for one request.

import { compileExpression, describeFlaw, type Expression, type Facts } from '../../expression/expression.ts'
import type { Read } from '../../expression/readings.ts'
import { decodedPath, isPlainPath, withPlainDots } from '../../base/path/path.ts'
import { pathReadings, readingWork } from '../../base/path/path-readings.ts'
import type { Work } from '../../expression/work-budget.ts'
import type { Tally } from '../../metrics/counters/distribution.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { ambiguousPath } from '../../errors/catalogue/ambiguous-path.ts'

export class RewriteValue {
  readonly #expression: Expression<string>
  readonly #failures: Tally
  readonly #cause: unknown

  /** `cause` is that of refusals. Throws if the expression does not compile. */
  constructor(text: string, failures: Tally, cause: unknown) {
    const expression = compileExpression(text, 'request', 'string')
    if ('line' in expression) throw new Error(`a rewrite ${describeFlaw(expression)}`)
    this.#expression = expression
    this.#failures = failures
    this.#cause = cause
  }

  /**
   * Refuses if the expression fails (1037), takes too much work, or depends on the reading of the path (400).
   */
  evaluate(facts: Facts, read: Read): string | Refusal {
    const value = this.#expression.evaluate(facts, read.work)
    // Each character of the result will be examined.
    if (value !== null && read.work.take(value.length / 8))
      return this.#isUnambiguous(value, facts, read) ? value : ambiguousPath
    this.#failures.inc()
    return refuse('rewrite_evaluation_failed', {}, this.#cause)
  }

  /**
   * For each reading of the path, the result must be a reading of the value, or the value with that reading
   * in place of the path. Otherwise another spelling of the path would bypass the rule.
   */
  #isUnambiguous(value: string, facts: Facts, read: Read): boolean {
    const sent = facts.request.path
    if (!this.#expression.readsPath || sent === '*' || isPlainPath(sent)) return true
    const { paths, work } = read
    if (paths === null) return false
    let readings: readonly string[] | null = null
    for (const path of paths) {
      if (path === sent) continue
      const other = this.#expression.evaluate(facts, work, path)
      if (other === null || !work.take(other.length / 2)) return false
      if (other === value) continue
      readings ??= readingsOf(value, work)
      if (readings.includes(withPlainDots(decodedPath(asPath(other))))) continue
      // Searching one text in another takes as many steps at worst.
      if (!work.take((value.length * sent.length) / 64)) return false
      if (other !== value.replaceAll(sent, () => path)) return false
    }
    return true
  }
}

function readingsOf(value: string, work: Work): readonly string[] {
  return (work.take(readingWork(value.length)) ? pathReadings(asPath(value)) : null) ?? []
}

/** A rule may use a query as a path: it is put behind a character that no request contains. */
function asPath(value: string): string {
  return value.replaceAll('?', '\x01')
}
