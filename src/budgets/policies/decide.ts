// Decides by the policies of a gateway whether a call is made, and which limits it counts in. What cannot be
// known of a call blocks it where a policy blocks, and allows nothing. A call of an unknown model counts in
// every limit that may be about that model, since another policy may allow it.

import type { Policy } from '../../store/records/policy.ts'
import { Work } from '../../expression/work-budget.ts'
import type { CallFacts, Caller } from '../buckets.ts'
import type { Bucket, RuleBuckets } from '../rule-buckets.ts'
import type { ActorMatch } from './actor.ts'
import { type CompiledPolicies, type CompiledPolicy, maxConditionWork } from './compile.ts'
import type { Match } from './resource.ts'

export type PolicyDecision =
  | { readonly type: 'allow'; readonly policy: Policy; readonly limits: readonly PolicyLimit[] }
  | { readonly type: 'block'; readonly policy: Policy }
  | { readonly type: 'no_match' }

/** A limit that governs a call. */
export interface PolicyLimit {
  readonly policy: Policy
  /** The identity that has the budget; null if all calls share it. */
  readonly value: string | null
  readonly buckets: RuleBuckets
}

/** What one policy has to do with a call. */
export interface PolicyTrace {
  readonly policy: Policy
  readonly applies: boolean
  /** What decides that: the first part that does not match, or that is unknown; null if all match. */
  readonly part: 'actor' | 'resource' | 'condition' | null
  readonly isUnknown: boolean
  /** Whether the call counts in the limit of the policy, also where the policy does not allow it. */
  readonly isCounted: boolean
}

/** A block wins over all others; limits of all policies that apply count. */
export function decidePolicies(
  { policies, gateway }: CompiledPolicies,
  call: CallFacts,
  caller: Caller,
  trace: PolicyTrace[] | null = null,
): PolicyDecision {
  const matching = new Matching(call, caller, gateway)
  let block: Policy | null = null
  let allow: Policy | null = null
  const limits: PolicyLimit[] = []
  for (const compiled of policies) {
    const { policy, buckets } = compiled
    const actor = compiled.actorOf(call, caller)
    const seen = matching.see(compiled, actor)
    trace?.push(seen)
    if (seen.isCounted) limits.push({ policy, buckets: buckets!, value: (actor as Known).value })
    if (!seen.applies) continue
    if (policy.action.type === 'block') {
      block ??= policy
      if (trace === null) break
      continue
    }
    allow ??= policy
  }
  if (block !== null) return { type: 'block', policy: block }
  if (allow === null || matching.hasUndecidedLimit) return { type: 'no_match' }
  return { type: 'allow', policy: allow, limits }
}

/** Returns the buckets of limits at a time: of several limits for one, the highest. */
export function policyBuckets(limits: readonly PolicyLimit[], now: number): readonly Bucket[] {
  if (limits.length === 1) return [limits[0]!.buckets.of(limits[0]!.value, now)]
  const highest = new Map<string, Bucket>()
  for (const { buckets, value } of limits) {
    const bucket = buckets.of(value, now)
    const other = highest.get(bucket.bucket)
    if (other === undefined || other.rule.limit < bucket.rule.limit) highest.set(bucket.bucket, bucket)
  }
  return [...highest.values()]
}

type Known = Exclude<ActorMatch, string>

class Matching {
  readonly #call: CallFacts
  readonly #caller: Caller
  readonly #gateway: string
  /** Whether a limit is not understood, or takes too many steps with metadata that its caller chose. */
  hasUndecidedLimit = false
  #work: Work | null = null

  constructor(call: CallFacts, caller: Caller, gateway: string) {
    this.#call = call
    this.#caller = caller
    this.#gateway = gateway
  }

  see(compiled: CompiledPolicy, actor: ActorMatch): PolicyTrace {
    const { policy } = compiled
    const { action } = policy
    const isBlock = action.type === 'block'
    const isExcept = isBlock && action.except === true
    let unknown: PolicyTrace['part'] = null
    let isOfModel = this.#call.model === null
    const parts = { actor: matchOf(actor), resource: compiled.resourceOf(this.#call) }
    if (isExcept) parts.resource = opposite(parts.resource)
    for (const part of ['actor', 'resource', 'condition'] as const) {
      const match = part === 'condition' ? this.#conditionOf(compiled) : parts[part]
      if (match === 'no') return { policy, applies: false, part, isUnknown: false, isCounted: false }
      if (match !== 'unknown') continue
      unknown ??= part
      isOfModel &&= part === 'resource' || (part === 'condition' && readsModel(compiled))
    }
    const isUnknown = unknown !== null
    if (isUnknown && action.type === 'limit' && this.#isUndecided(compiled)) this.hasUndecidedLimit = true
    const isCounted = compiled.buckets !== null && (!isUnknown || isOfModel)
    return { policy, applies: !isUnknown || isBlock, part: unknown, isUnknown, isCounted }
  }

  #isUndecided({ buckets, condition }: CompiledPolicy): boolean {
    return buckets === null || condition === 'broken' || this.#work?.isExceeded === true
  }

  #conditionOf({ condition }: CompiledPolicy): Match {
    if (condition === null) return 'yes'
    if (condition === 'broken') return 'unknown'
    const { user, email, app, token } = this.#caller
    const { provider, model, metadata } = this.#call
    this.#work ??= new Work({ file: 0, api: maxConditionWork })
    const facts = { user, email, app, token, gateway: this.#gateway, provider, model, metadata }
    const value = condition.evaluate(facts, this.#work)
    return value === null ? 'unknown' : value ? 'yes' : 'no'
  }
}

function readsModel({ condition }: CompiledPolicy): boolean {
  return condition !== null && condition !== 'broken' && condition.readsModel
}

function matchOf(actor: ActorMatch): Match {
  if (actor === 'unknown') return 'unknown'
  return actor === 'other' ? 'no' : 'yes'
}

function opposite(match: Match): Match {
  if (match === 'unknown') return match
  return match === 'yes' ? 'no' : 'yes'
}
