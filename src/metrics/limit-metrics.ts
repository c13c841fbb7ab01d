// What is counted of rate limits and quotas, by the limiter and by the edge, which decides where a rule only logs.

import { Tally } from './distribution.ts'

/** What rate limits and quotas decided, and how. */
export class LimitMetrics {
  readonly rules = new Map<string, LimitDecisions>()
  readonly storeCalls = new Tally()
  readonly fallbacks = new Tally()

  /** Returns the numbers of a rule, which exist from the first call on; names come from the configuration. */
  rule(name: string): LimitDecisions {
    const known = this.rules.get(name)
    if (known) return known
    const decisions = new LimitDecisions()
    this.rules.set(name, decisions)
    return decisions
  }
}

/** What became of the requests that one rate limit or quota counted. */
export class LimitDecisions {
  readonly allowed = new Tally()
  readonly limited = new Tally()
  readonly logged = new Tally()
}
