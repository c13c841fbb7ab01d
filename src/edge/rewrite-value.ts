// What an expression of a rewrite gives for one request. Called by `rewrite-path.ts` and `rewrite-headers.ts`.
import { compileExpression, describeFlaw, type Expression, type Facts } from '../base/expression.ts'
import { decodedPath, isPlainPath, withPlainDots } from '../base/path.ts'
import { pathReadings } from '../base/path-readings.ts'
import type { Work } from '../base/work.ts'
import type { Tally } from '../base/distribution.ts'
import { type Refusal, refuse } from '../errors/refusal.ts'

export class RewriteValue {
  readonly #expression: Expression<string>
  readonly #failures: Tally
  readonly #cause: unknown

  /** Compiles an expression, whose failures are counted and told with a cause; throws where it does not compile. */
  constructor(text: string, failures: Tally, cause: unknown) {
    const expression = compileExpression(text, 'request', 'string')
    if ('line' in expression) throw new Error(`a rewrite ${describeFlaw(expression)}`)
    this.#expression = expression
    this.#failures = failures
    this.#cause = cause
  }

  /** Evaluates, or refuses where that fails (1037), or is more work than is left. */
  evaluate(facts: Facts, work: Work): string | Refusal {
    const value = this.#expression.evaluate(facts, work)
    // Each character of it is looked at.
    if (value !== null && work.take(value.length / 8)) return value
    this.#failures.inc()
    return refuse('rewrite_evaluation_failed', {}, this.#cause)
  }

  /**
   * Whether the origin reads what a rule made of a path as the rule meant it, whose `readings` are given: what the rule makes of each reading of the path that was
   * sent is among them. Else another spelling would slip by the rule.
   */
  meansAlike(readings: readonly string[], facts: Facts, work: Work): boolean {
    const sent = facts.request.path
    if (!this.#expression.readsPath || isPlainPath(sent)) return true
    return pathReadings(sent)?.all.every(path => this.#givesOneOf(readings, facts, work, path)) ?? false
  }

  #givesOneOf(readings: readonly string[], facts: Facts, work: Work, path: string): boolean {
    const value = this.#expression.evaluate(facts, work, path)
    return value !== null && readings.includes(withPlainDots(decodedPath(value)))
  }
}
