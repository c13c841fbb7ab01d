// The access rules of a zone, or of all, compiled: the first that matches decides. The edge asks once a request.
import { AddressWords } from '../base/address-words.ts'
import type { EdgeMetrics } from '../base/edge-metrics.ts'
import type { AccessConfig } from '../config/access-config.ts'
import { type Refusal, refuse } from '../errors/refusal.ts'
import type { Ban, Bans } from './bans.ts'
import type { AccessSources } from './conditions.ts'
import { LowerCase } from './lower-case.ts'
import { CompiledRule } from './rules.ts'
import { type AccessRequest, Visit } from './visit.ts'

export type { AccessSources }

/** What a policy is made with beside its rules. */
export interface AccessParts extends AccessSources {
  /** Outlives the policy, which each reload makes anew. */
  readonly bans: Bans
  readonly metrics: Pick<EdgeMetrics, 'access' | 'expressionFailures'>
}

/** `allow`: a rule lets it in, and no later policy is asked. Null: no rule matched. */
export type AccessVerdict = 'allow' | Refusal | null

export class AccessPolicy {
  readonly isEmpty: boolean
  readonly #rules: readonly CompiledRule[]
  readonly #otherwise: AccessConfig['otherwise']
  readonly #ban: Ban | null
  readonly #geo: AccessParts['geo']
  readonly #metrics: AccessParts['metrics']
  /** The address that was read last, which mostly is the next one too. */
  readonly #words = new AddressWords()
  readonly #lowerCase = new LowerCase()
  #text = ''
  #isAddress = false

  /** Compiles rules that were found good, those of a zone or (null) of all; throws at others. */
  constructor({ rules, otherwise, ban }: AccessConfig, zone: string | null, parts: AccessParts) {
    const whose = zone === null ? 'of all zones' : `of ${zone}`
    this.isEmpty = rules.length === 0 && otherwise === 'allow' && ban === null
    this.#rules = rules.map((rule, i) => new CompiledRule(rule, `access rule ${i + 1} ${whose}`, parts))
    this.#otherwise = otherwise
    this.#ban = ban && parts.bans.of(whose, ban)
    this.#geo = parts.geo
    this.#metrics = parts.metrics
  }

  /** Decides by the ban of the address, then by the first rule that matches, then by what is set for all others. */
  decide(request: AccessRequest): AccessVerdict {
    const { access } = this.#metrics
    this.#read(request.address)
    if (this.#ban?.has(this.#key())) {
      access.banned.inc()
      return banned
    }
    const visit = new Visit(request, this.#isAddress ? this.#words : null, this.#geo, this.#lowerCase)
    for (const rule of this.#rules) {
      const isMatch = rule.matches(visit)
      if (isMatch !== false) return this.#conclude(rule, visit, isMatch)
    }
    if (this.#otherwise === 'allow') return null
    access.denied.default.inc()
    return notAllowed
  }

  /** Counts a refusal of an address towards its ban. */
  note(address: string): void {
    if (this.#ban === null) return
    this.#read(address)
    this.#ban.note(this.#key())
  }

  #conclude(rule: CompiledRule, visit: Visit, isMatch: true | null): AccessVerdict {
    const { access, expressionFailures } = this.#metrics
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
    return rule.refuse(visit)
  }

  #read(address: string): void {
    if (address === this.#text) return
    this.#text = address
    this.#isAddress = this.#words.read(address)
  }

  /** Gives what a ban knows the address by: of IPv6 its first 64 bits, since whoever has one address has the others too. */
  #key(): string {
    const { isV4, words } = this.#words
    return isV4 || !this.#isAddress ? this.#text : `${words[0]}:${words[1]}`
  }
}

const banned = refuse('malicious_activity_banned')
const notAllowed = refuse('default_deny_policy')
