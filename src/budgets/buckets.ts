// Which budgets an AI call counts in: the rules of its gateway and of its token that govern it, and the
// bucket of each at that time.

import { memoizeEach } from '../base/memo.ts'
import type { Criterion, SpendLimits, SpendRule } from '../store/records/budget-rule.ts'
import type { Gateway, Metadata, Token } from '../store/records/records.ts'
import { type Bucket, type BudgetRule, periodOf, RuleBuckets } from './rule-buckets.ts'
import { allowanceInWords } from './rule-words.ts'

/** What rules tell calls apart by, besides who calls. */
export interface CallFacts {
  readonly provider: string
  /** As its provider names it; null if the call names none. */
  readonly model: string | null
  /** Those that the provider may use in its place; none if absent. */
  readonly otherModels?: readonly (string | null)[]
  readonly metadata: Metadata | null
}

/** Who calls; null where the call has no such thing. */
export interface Caller {
  /** The API token, or the consent to an app. */
  readonly token: string | null
  readonly app: string | null
  readonly user: string | null
  readonly email: string | null
}

/** Lists the buckets that a call counts in, those of its gateway first; empty if no rule governs it. */
export function bucketsOf(
  gateway: Gateway,
  token: Token | null,
  call: CallFacts,
  now: number,
): readonly Bucket[] {
  const limited = token?.spendLimits === undefined ? null : token
  if (!gateway.spendLimits && limited === null) return none
  const caller = token === null ? nobody : callerOf(token)
  const own = recent.listOf(rulesOfGateway(gateway), call, caller, now)
  if (limited === null) return own
  const ofToken = recentOfToken.listOf(rulesOfToken(limited), call, caller, now)
  return own.length === 0 ? ofToken : ofToken.length === 0 ? own : [...own, ...ofToken]
}

/** Whether a gateway or a token has spend limits at all. */
export function isGoverned({ spendLimits }: Gateway, token: Token | null): boolean {
  return spendLimits?.isEnabled === true || token?.spendLimits?.isEnabled === true
}

/** Compiles the rules that are in effect; a changed gateway is a new record. */
export const rulesOfGateway = memoizeEach(({ account, id, spendLimits }: Gateway) =>
  compile(spendLimits, { account, owner: 'gateway', id }),
)

export const rulesOfToken = memoizeEach(({ account, id, spendLimits }: Token) =>
  compile(spendLimits, { account, owner: 'token', id }),
)

/** The same token of a cache stays the same object. */
export const callerOf = memoizeEach(({ id, actor, person }: Token): Caller => {
  const { user = null, email = null } = actor ?? person ?? {}
  return {
    token: actor?.grant ?? id,
    app: actor?.client ?? null,
    user,
    email: email?.toLowerCase() ?? null,
  }
})

const none: readonly Bucket[] = []

/** Most calls are like the one before: they share one list. */
class RecentBuckets {
  #last: readonly Bucket[] = none

  listOf(rules: readonly CompiledRule[], call: CallFacts, caller: Caller, now: number): readonly Bucket[] {
    const last = this.#last
    let list: Bucket[] | null = null
    let count = 0
    for (const rule of rules) {
      const bucket = rule.bucketOf(call, caller, now)
      if (bucket === null) continue
      if (list === null && bucket !== last[count]) list = last.slice(0, count)
      list?.push(bucket)
      count++
    }
    if (list === null && count === last.length) return last
    this.#last = list ?? last.slice(0, count)
    return this.#last
  }
}

const recent = new RecentBuckets()
const recentOfToken = new RecentBuckets()

/** Without a token. */
export const nobody: Caller = { token: null, app: null, user: null, email: null }

interface Owner {
  readonly account: string
  readonly owner: BudgetRule['owner']
  readonly id: string
}

function compile(limits: SpendLimits | null | undefined, owner: Owner): readonly CompiledRule[] {
  if (!limits?.isEnabled) return []
  return limits.rules.filter(({ isEnabled }) => isEnabled).map(rule => new CompiledRule(rule, owner))
}

export class CompiledRule {
  readonly rule: BudgetRule
  /** Whose values have buckets of their own, such as `token` and `metadata.team`; empty for one bucket. */
  readonly partitionedBy: readonly string[]
  readonly #filters: readonly Filter[]
  readonly #partitions: readonly Fact[]
  readonly #buckets: RuleBuckets

  constructor(rule: SpendRule, { account, owner, id }: Owner) {
    const { unit, limit, whenUnreachable } = rule
    const inUnits = unit === 'cost' ? Math.round(limit * 1e9) : limit
    const criteria = criteriaOf(rule)
    const partitions = criteria.filter(({ criterion }) => criterion.mode === 'partition')
    const words = allowanceInWords(unit, inUnits, rule)
    const windows = { words, ...periodOf(rule.window) }
    this.rule = { id: rule.id, owner, unit, limit: inUnits, ...windows, whenUnreachable }
    this.#filters = criteria.flatMap(({ fact, criterion }) =>
      criterion.mode === 'filter' ? [filterOf(fact, criterion.values)] : [],
    )
    this.#partitions = partitions.map(({ fact }) => fact)
    this.partitionedBy = partitions.map(({ name }) => name)
    this.#buckets = new RuleBuckets(this.rule, rule, {
      counted: [account, owner, id, rule.id, ...this.partitionedBy],
      isPartitioned: partitions.length > 0,
    })
  }

  /** Returns the bucket of a call, one object while its window lasts; null if the rule does not govern it. */
  bucketOf(call: CallFacts, caller: Caller, now: number): Bucket | null {
    for (const passes of this.#filters) if (!passes(call, caller)) return null
    return this.#buckets.of(this.#valueOf(call, caller), now)
  }

  /** Returns the values of a call in the order of `partitionedBy`, whatever the filters. */
  valuesOf(call: CallFacts, caller: Caller): readonly (string | null)[] {
    return this.#partitions.map(fact => fact(call, caller))
  }

  /** Returns the bucket of the calls with these values. */
  bucketWith(values: readonly (string | null)[], now: number): Bucket {
    return this.#buckets.of(joined(values), now)
  }

  /** Returns the bucket of a key; null if it is not one of this rule and window. */
  bucketNamed(key: string, now: number): Bucket | null {
    return this.#buckets.named(key, now)
  }

  #valueOf(call: CallFacts, caller: Caller): string | null {
    const partitions = this.#partitions
    if (partitions.length === 0) return null
    return partitions.length === 1 ? partitions[0]!(call, caller) : joined(this.valuesOf(call, caller))
  }
}

/** Returns a text that differs for each combination of values; a missing value differs from every text. */
function joined(values: readonly (string | null)[]): string | null {
  if (values.length < 2) return values[0] ?? null
  let text = ''
  for (const value of values) text += value === null ? '-' : `${value.length}:${value}`
  return text
}

type Fact = (call: CallFacts, caller: Caller) => string | null
type Filter = (call: CallFacts, caller: Caller) => boolean

const facts = {
  // Some providers ignore case, and each spelling would be another model.
  model: ({ provider, model }) => (model === null ? null : `${provider}/${model.toLowerCase()}`),
  provider: ({ provider }) => provider,
  token: (_, { token }) => token,
  app: (_, { app }) => app,
  person: (_, { user }) => user,
} as const satisfies Readonly<Record<string, Fact>>

const names = Object.keys(facts) as (keyof typeof facts)[]

interface NamedCriterion {
  readonly name: string
  readonly fact: Fact
  readonly criterion: Criterion
}

function criteriaOf(rule: SpendRule): readonly NamedCriterion[] {
  const own = names.flatMap(name => {
    const criterion = rule[name]
    return criterion === undefined ? [] : [{ name, fact: facts[name], criterion }]
  })
  const metadata = Object.entries(rule.metadata ?? {})
    .map(([name, criterion]) => ({ name: `metadata.${name}`, fact: metadataFact(name), criterion }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  return [...own, ...metadata]
}

function metadataFact(name: string): Fact {
  return ({ metadata }) => {
    if (metadata === null || !Object.hasOwn(metadata, name)) return null
    const value = metadata[name]!
    return value === null ? null : String(value)
  }
}

/**
 * A model is named with its provider or without, and may be any if it is unknown; a person by an id or an
 * address.
 */
function filterOf(fact: Fact, values: readonly string[]): Filter {
  const ignoresCase = fact === facts.model || fact === facts.person
  const wanted = new Set(ignoresCase ? values.map(value => value.toLowerCase()) : values)
  const isWanted = (value: string | null) => value !== null && wanted.has(value)
  if (fact === facts.model)
    return ({ provider, model, otherModels }) => {
      if (mayBe(wanted, provider, model)) return true
      if (otherModels !== undefined)
        for (const other of otherModels) if (mayBe(wanted, provider, other)) return true
      return false
    }
  if (fact === facts.person) return (_, { user, email }) => isWanted(user) || isWanted(email)
  return (call, caller) => isWanted(fact(call, caller))
}

function mayBe(wanted: ReadonlySet<string>, provider: string, model: string | null): boolean {
  if (model === null) return true
  const name = model.toLowerCase()
  return wanted.has(name) || wanted.has(`${provider}/${name}`)
}
