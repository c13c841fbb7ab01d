// What an expression of a rewrite gives for one request. Called by `rewrite-path.ts` and `rewrite-headers.ts`.
import { compileExpression, describeFlaw, type Expression, type Facts } from '../base/expression.ts'
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

  /** Evaluates, or refuses where that fails (1037). */
  evaluate(facts: Facts): string | Refusal {
    const value = this.#expression.evaluate(facts)
    if (value !== null) return value
    this.#failures.inc()
    return refuse('rewrite_evaluation_failed', {}, this.#cause)
  }
}
