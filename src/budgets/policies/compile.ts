// Compiles the policies of a gateway, once for each commit.

import { memoizeEach } from '../../base/memo.ts'
import { compileCallCondition, describeFlaw } from '../../expression/expression.ts'
import type { Policy, PolicyAction, PolicyPeriod, PolicedGateway } from '../../store/records/policy.ts'
import type { SpendRule } from '../../store/records/budget-rule.ts'
import { periodOf, RuleBuckets } from '../rule-buckets.ts'
import { allowanceInWords } from '../rule-words.ts'
import { type ActorOf, readActor } from './actor.ts'
import { canonicalResource, compileResource, type ResourceOf } from './resource.ts'

export const maxPolicies = 100
/** Characters of JSON. */
export const maxLength = 64 * 1024
/** Steps of all conditions for one call: see `src/expression/work-budget.ts`. */
export const maxConditionWork = 7_000

export interface CompiledPolicy {
  readonly policy: Policy
  readonly actorOf: ActorOf
  readonly resourceOf: ResourceOf
  /** Null for no condition; `broken` for one that this version does not understand. */
  readonly condition: Condition | 'broken' | null
  /** Of a limit. */
  readonly buckets: RuleBuckets | null
}

type Condition = Exclude<ReturnType<typeof compileCallCondition>, { readonly message: string }>

export interface CompiledPolicies {
  readonly gateway: string
  readonly policies: readonly CompiledPolicy[]
  readonly hasLimits: boolean
}

interface Owner {
  readonly account: string
  readonly gateway: string
}

/** Compiles those in effect, which a changed gateway has anew. */
export const policiesOf = memoizeEach(({ account, id, policies = [] }: PolicedGateway) =>
  compilePolicies(policies, { account, gateway: id }),
)

/** Whether a call may have to be counted for a policy. */
export function hasPolicyLimits(gateway: PolicedGateway): boolean {
  return gateway.policies !== undefined && policiesOf(gateway).hasLimits
}

/** Never fails: what was committed and is not understood blocks, and allows nothing. */
export function compilePolicies(policies: readonly Policy[], owner: Owner): CompiledPolicies {
  const compiled = policies.map(policy => compilePolicy(policy, owner))
  const hasLimits = compiled.some(({ buckets }) => buckets !== null)
  return { gateway: owner.gateway, policies: compiled, hasLimits }
}

/** What is wrong with a policy: the name of a member, and words that follow it. */
interface PolicyFlaw {
  readonly member: 'actor' | 'condition'
  readonly rule: string
}

/** Lists what is wrong with texts of a policy that have a language of their own. */
export function flawsOfPolicy({ actor, condition }: Pick<Policy, 'actor' | 'condition'>): PolicyFlaw[] {
  const flaws: PolicyFlaw[] = []
  const read = readActor(actor)
  if (typeof read === 'string') flaws.push({ member: 'actor', rule: read })
  const compiled = condition === undefined ? null : compileCallCondition(condition)
  if (compiled !== null && 'message' in compiled)
    flaws.push({ member: 'condition', rule: describeFlaw(compiled) })
  return flaws
}

/** Sums up the steps of all conditions. */
export function workOf(policies: readonly Policy[]): number {
  let work = 0
  for (const { condition } of policies) {
    const compiled = condition === undefined ? null : compileCallCondition(condition)
    if (compiled !== null && 'work' in compiled) work += compiled.work
  }
  return work
}

function compilePolicy(policy: Policy, owner: Owner): CompiledPolicy {
  const actor = readActor(policy.actor)
  const condition = policy.condition === undefined ? null : compileCallCondition(policy.condition)
  return {
    policy,
    actorOf: typeof actor === 'string' ? () => 'unknown' : actor.of,
    resourceOf: compileResource(policy.resource, isPlainBlock(policy.action) ? 'broad' : 'strict'),
    condition: condition === null || 'evaluate' in condition ? condition : 'broken',
    buckets: typeof actor === 'string' ? null : bucketsOfLimit(policy, actor.source, owner),
  }
}

/** What it matches is refused; the exception of another one is allowed. */
function isPlainBlock(action: PolicyAction): boolean {
  return action.type === 'block' && action.except !== true
}

/** The buckets are of what is counted: other policies that count the same share them, with any amount. */
function bucketsOfLimit(policy: Policy, source: string, { account, gateway }: Owner): RuleBuckets | null {
  const { id, name, action, resource, condition = null } = policy
  if (action.type !== 'limit') return null
  const limit = Math.round(action.amount * 1e9)
  const given = windowsOf(action)
  const unit = 'cost'
  const windows = { words: allowanceInWords(unit, limit, given), ...periodOf(given.window) }
  return new RuleBuckets(
    { id, name, owner: 'policy', unit, limit, ...windows, whenUnreachable: 'closed' },
    given,
    {
      counted: [account, 'policy', gateway, source, canonicalResource(resource), condition],
      isPartitioned: source !== '*',
    },
  )
}

const windows = {
  hourly: 3_600,
  daily: 'day',
  weekly: 'week',
  monthly: 'month',
} as const satisfies Readonly<Record<PolicyPeriod, SpendRule['window']>>

function windowsOf({ period, timeZone }: Extract<PolicyAction, { type: 'limit' }>) {
  return {
    window: windows[period],
    technique: 'fixed',
    ...(timeZone !== undefined && { timeZone }),
  } as const
}
