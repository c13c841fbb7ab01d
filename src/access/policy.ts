// The compiled access rules of one zone or of all zones: the first match decides.

import { managedRuleIdOf } from '../config/model/rule-id.ts'
import { AddressWords } from '../net/address/address-words.ts'
import { clientKey } from '../net/address/client-key.ts'
import type { EdgeMetrics } from '../metrics/counters/edge-metrics.ts'
import type { AccessConfig, AccessRule } from '../config/model/access-config.ts'
import { plainWork } from '../config/shape/rule-cost.ts'
import { type Refusal, refuse } from '../errors/catalogue/refusal.ts'
import { banHits, defaultHits } from '../activity/tally-scopes.ts'
import { type BanBook, type Bans, banOwner } from './bans/bans.ts'
import type { AccessSources } from './rules/conditions.ts'
import { LowerCase } from './rules/lower-case.ts'
import { CompiledRule } from './rules/rules.ts'
import { RuleCache } from './rules/rule-cache.ts'
import { type AccessRequest, RuleInput } from './rules/access-request.ts'

export type { AccessSources }

export interface AccessParts extends AccessSources {
  /** Outlives the policy, which is replaced at each reload. */
  readonly bans: { of(...ban: Parameters<Bans['of']>): BanBook }
  readonly metrics: Pick<EdgeMetrics, 'access' | 'expressionFailures'>
  /** Called with each decision, except for requests that no rule matches and the default allows. */
  readonly witness?: (decision: AccessDecision) => void
}

export interface AccessDecision {
  /** Null for the rules of all zones. */
  readonly zone: string | null
  /** `work`: the rules would take more work than one request may cost. */
  readonly by: 'ban' | 'rule' | 'default' | 'work'
  readonly verdict: Refusal | 'allow'
  /** The rule, its number among those of the file (null for the API), and the value it was compared with. */
  readonly rule: AccessRule | null
  readonly number: number | null
  readonly visit: RuleInput | null
  /** False if the rule could not be evaluated. */
  readonly isMatch: boolean
  /** In ms, of a ban. */
  readonly left: number
}

/** `allow`: a rule admits the request, and no later policy is evaluated. Null: no rule matched. */
export type AccessVerdict = 'allow' | Refusal | null

export class AccessPolicy {
  readonly isEmpty: boolean
  readonly readsPath: boolean
  readonly #ruleCache: RuleCache
  readonly #otherwise: AccessConfig['otherwise']
  readonly #ban: BanBook | null
  readonly #banned: Refusal
  readonly #notAllowed: Refusal
  readonly #tooMuch: Refusal
  readonly #plainWork: number
  readonly #geo: AccessParts['geo']
  readonly #metrics: AccessParts['metrics']
  readonly #witness: ((what: Pick<AccessDecision, 'by' | 'verdict'> & Partial<AccessDecision>) => void) | null
  /** The address that was parsed last, which is usually the next one, too. */
  readonly #words = new AddressWords()
  readonly #lowerCase = new LowerCase()
  #text = ''
  #isAddress = false

  /** The access log names a rule of the API by its id, and others by their number in `file`. */
  constructor(
    { rules, otherwise, ban }: AccessConfig,
    zone: string | null,
    parts: AccessParts,
    file = rules,
  ) {
    const whose = banOwner(zone)
    this.isEmpty = rules.length === 0 && otherwise === 'allow' && ban === null
    const ownRules = file.filter(rule => managedRuleIdOf(rule) === null)
    const numberOf = (rule: AccessRule) => ownRules.indexOf(rule) + 1 || null
    const placeOf = (rule: AccessRule) => `access rule ${managedRuleIdOf(rule) ?? numberOf(rule)} ${whose}`
    const compiled = rules.map(rule => new CompiledRule(rule, placeOf(rule), parts))
    this.readsPath = compiled.some(rule => rule.readsPath)
    this.#ruleCache = new RuleCache(compiled)
    this.#otherwise = otherwise
    this.#ban = ban && parts.bans.of(whose, ban)
    this.#banned = refuse('malicious_activity_banned', {}, { code: `ban ${whose}` })
    this.#notAllowed = refuse('default_deny_policy', {}, { code: `default ${whose}` })
    this.#tooMuch = refuse('access_protection_error', {}, { code: `access rules ${whose}` })
    this.#plainWork = rules.reduce((sum, { condition }) => sum + plainWork(condition), 0)
    this.#geo = parts.geo
    this.#metrics = parts.metrics
    const { witness } = parts
    this.#witness =
      witness === undefined
        ? null
        : what =>
            witness({ ...nothingDecided, zone, number: what.rule ? numberOf(what.rule) : null, ...what })
  }

  decide(request: AccessRequest): AccessVerdict {
    if (this.#ban?.has(clientKey(request.address))) return this.#refuseBanned(this.#ban, request)
    this.#read(request.address)
    const input = new RuleInput(request, this.#isAddress ? this.#words : null, this.#geo, this.#lowerCase)
    if (!input.work.take(this.#plainWork)) return this.#refuse('work', this.#tooMuch)
    for (const rule of this.#ruleCache.rulesFor(input)) {
      const isMatch = rule.matches(input)
      if (isMatch !== false) return this.#conclude(rule, input, isMatch)
    }
    if (this.#otherwise === 'allow') return null
    this.#metrics.access.denied.default.inc()
    request.tallies.counter('access_rule', defaultHits).inc()
    return this.#refuse('default', this.#notAllowed)
  }

  note(address: string): void {
    this.#ban?.note(clientKey(address))
  }

  #refuseBanned(ban: BanBook, { address, tallies }: AccessRequest): Refusal {
    this.#metrics.access.banned.inc()
    tallies.counter('access_rule', banHits).inc()
    this.#witness?.({ by: 'ban', verdict: this.#banned, left: ban.left(clientKey(address)) })
    return this.#banned
  }

  #refuse(by: 'work' | 'default', verdict: Refusal): Refusal {
    this.#witness?.({ by, verdict })
    return verdict
  }

  #conclude(rule: CompiledRule, input: RuleInput, isMatch: true | null): Refusal | 'allow' {
    const verdict = this.#verdictOf(rule, input, isMatch)
    this.#witness?.({ by: 'rule', verdict, rule: rule.rule, visit: input, isMatch: isMatch === true })
    return verdict
  }

  #verdictOf(rule: CompiledRule, input: RuleInput, isMatch: true | null): Refusal | 'allow' {
    const { access, expressionFailures } = this.#metrics
    rule.hit(input.request.tallies)
    if (isMatch === null) {
      access.failed[rule.kind].inc()
      if (rule.kind === 'expression') expressionFailures.access.inc()
      return rule.fail()
    }
    if (rule.action === 'allow') {
      access.allowed[rule.kind].inc()
      return 'allow'
    }
    access[rule.action === 'deny' ? 'denied' : 'legal'][rule.kind].inc()
    return rule.refuse(input)
  }

  #read(address: string): void {
    if (address === this.#text) return
    this.#text = address
    this.#isAddress = this.#words.read(address)
  }
}

const nothingDecided = { rule: null, number: null, visit: null, isMatch: true, left: 0 } as const
