// One compiled access rule, and the error that it refuses with.

import type { AccessKind } from '../../metrics/counters/access-metrics.ts'
import type { AccessRule } from '../../config/model/access-config.ts'
import { ruleIdOf } from '../../config/model/rule-id.ts'
import type { ErrorName } from '../../errors/catalogue/catalogue.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { TallyCounter, TallyScope } from '../../activity/tally-book.ts'
import { type AccessSources, type Condition, compileCondition, readsPath } from './conditions.ts'
import type { RuleInput } from './access-request.ts'

export class CompiledRule {
  readonly rule: AccessRule
  readonly action: AccessRule['action']
  readonly kind: AccessKind
  readonly matches: Condition
  readonly readsPath: boolean
  /** Empty for an expression, even if it reads the path. */
  readonly prefixes: readonly string[]
  readonly #cause: { readonly code: string }
  /** The scope of the last hit, which is usually that of the next. */
  #scope: TallyScope | null = null
  #hits: TallyCounter | null = null

  constructor(rule: AccessRule, place: string, sources: AccessSources) {
    const { action, condition, description } = rule
    this.rule = rule
    this.action = action
    this.kind = condition.kind
    this.matches = compileCondition(rule, sources)
    this.readsPath = readsPath(condition)
    this.prefixes = condition.kind === 'path' ? condition.prefixes : []
    this.#cause = { code: description === null ? place : `${place}: ${description}` }
  }

  hit(scope: TallyScope): void {
    if (scope !== this.#scope) {
      this.#scope = scope
      this.#hits = scope.counter('access_rule', ruleIdOf(this.rule))
    }
    this.#hits!.inc()
  }

  refuse(input: RuleInput): Refusal {
    return refuse(this.#errorFor(input), {}, this.#cause)
  }

  fail(): Refusal {
    return refuse('access_protection_error', {}, this.#cause)
  }

  #errorFor(input: RuleInput): ErrorName {
    if (this.action === 'legal') return this.kind === 'country' ? 'legal_country_block' : 'legal_block'
    const { isIPv6 } = input
    switch (this.kind) {
      case 'ip':
        if (input.lookup === 'address') return isIPv6 ? 'ipv6_banned' : 'ip_banned'
        return isIPv6 ? 'ipv6_range_banned' : 'ip_range_banned'
      case 'list':
        return isIPv6 ? 'ipv6_list_banned' : 'ip_list_banned'
      case 'country':
        return isIPv6 ? 'ipv6_country_banned' : 'country_banned'
      case 'asn':
        return 'asn_banned'
      case 'user_agent':
        return 'browser_signature_banned'
      case 'referer':
      case 'referer_not':
        return 'hotlinking_denied'
      case 'path':
      case 'expression':
        return 'firewall_rule_blocked'
    }
  }
}
