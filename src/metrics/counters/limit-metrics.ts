// Counts of rate limits and quotas, moved by the limiter, and by the edge for rules that only log.

import { Tally } from './distribution.ts'

export class LimitMetrics {
  readonly rules = new Map<string, LimitDecisions>()
  readonly storeCalls = new Tally()
  readonly fallbacks = new Tally()

  /** Returns the numbers of a rule, created on first use; names come from the configuration. */
  rule(name: string): LimitDecisions {
    const metrics = this.rules.get(name)
    if (metrics) return metrics
    const decisions = new LimitDecisions()
    this.rules.set(name, decisions)
    return decisions
  }

  /** Drops the rules without a counted request that are not among these: names come and go with reloads. */
  keepRules(names: ReadonlySet<string>): void {
    for (const [name, decisions] of this.rules) {
      if (names.has(name) || !decisions.isUnused) continue
      this.rules.delete(name)
      decisions.successor = () => this.rule(name)
    }
  }
}

export class LimitDecisions {
  readonly allowed = new Tally()
  readonly limited = new Tally()
  readonly logged = new Tally()
  /** Returns the counter for requests that were in progress when this one was dropped; null before. */
  successor: (() => LimitDecisions) | null = null

  get isUnused(): boolean {
    return this.allowed.value === 0 && this.limited.value === 0 && this.logged.value === 0
  }

  note(decision: 'allowed' | 'limited' | 'logged'): void {
    if (this.successor !== null) return this.successor().note(decision)
    this[decision].inc()
  }
}
