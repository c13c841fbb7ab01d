// A budget in the form of the management API, and in words.

import type { BudgetUnit, CalendarPeriod, Criterion } from '../../store/records/budget-rule.ts'
import { windowInWords } from '../../budgets/rule-words.ts'
import { dollars, grouped } from '../parts/numbers.ts'

export interface Rule {
  readonly id: string
  readonly enabled: boolean
  readonly limit: number
  readonly limitType: BudgetUnit
  /** Seconds or a period; absent for calls at a time. */
  readonly window?: number | CalendarPeriod
  readonly time_zone?: string
  readonly technique?: 'fixed' | 'sliding'
  readonly model?: Criterion
  readonly provider?: Criterion
  readonly token?: Criterion
  readonly app?: Criterion
  readonly person?: Criterion
  readonly metadata?: Readonly<Record<string, Criterion>>
  readonly when_store_unreachable: 'closed' | 'open'
}

export interface SpendLimits {
  readonly enabled: boolean
  readonly rules: readonly Rule[]
}

/** What is spent of one budget; amounts are in the unit of the rule. */
export interface Bucket {
  readonly id: string
  readonly key: readonly { readonly by: string; readonly value: string | null; readonly name?: string }[]
  readonly spent: number
  readonly leased: number
  readonly limit: number
  readonly remaining: number
  readonly resets_at: string | null
}

export interface RuleBudgets {
  readonly rule: Rule
  readonly refused_last_day: number
  readonly budgets: readonly Bucket[]
}

export const criteria = ['token', 'app', 'person', 'model', 'provider'] as const

/** Returns what a rule allows, as `$100.00 a month, for each token and model`. */
export function ruleInWords(rule: Rule): string {
  const each = partitionsOf(rule)
  const amount = amountInWords(rule.limitType, rule.limit)
  const allowed = rule.limitType === 'concurrency' ? `${amount} at a time` : `${amount} ${spanOf(rule)}`
  return each.length === 0 ? allowed : `${allowed}, for each ${joined(each, 'and')}`
}

/** Returns which calls a rule governs, as `Only calls with the model a or b`; null for all calls. */
export function filtersInWords(rule: Rule): string | null {
  const filters = criteriaOf(rule).flatMap(([name, criterion]) =>
    criterion.mode === 'filter' ? [`${name} ${joined(criterion.values, 'or')}`] : [],
  )
  return filters.length === 0 ? null : `Only calls with the ${joined(filters, 'and')}`
}

/** Lists what has budgets of its own, such as `token` and `metadata.team`. */
export function partitionsOf(rule: Rule): readonly string[] {
  return criteriaOf(rule).flatMap(([name, { mode }]) => (mode === 'partition' ? [name] : []))
}

/** Writes an amount with its unit, as `$2.50`, `1 token` or `4 calls`. */
export function amountInWords(unit: BudgetUnit, amount: number): string {
  if (unit === 'cost') return dollars(amount)
  const name = unit === 'tokens' ? 'token' : 'call'
  return `${grouped(amount)} ${amount === 1 ? name : `${name}s`}`
}

/** Writes an amount without a unit other than dollars. */
export function amountIn(unit: BudgetUnit, amount: number): string {
  return unit === 'cost' ? dollars(amount) : grouped(amount)
}

function spanOf({ window, technique = 'fixed' }: Rule): string | null {
  return windowInWords({ window: window ?? null, technique })
}

/** Writes how long it is until then, in its two largest units, as `3 h 20 min`. */
export function spanUntil(iso: string, now: number): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(iso) - now) / 1000))
  const units = brief.map(([length, unit], i) => {
    const above = brief[i - 1]?.[0] ?? Number.POSITIVE_INFINITY
    return { unit, count: Math.floor((seconds % above) / length) }
  })
  const first = units.findIndex(({ count }) => count > 0)
  if (first < 0) return '0 s'
  return units
    .slice(first, first + 2)
    .filter(({ count }) => count > 0)
    .map(({ count, unit }) => `${count} ${unit}`)
    .join(' ')
}

const brief = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const

function criteriaOf(rule: Rule): readonly (readonly [string, Criterion])[] {
  const own = criteria.flatMap(name => {
    const criterion = rule[name]
    return criterion === undefined ? [] : [[name, criterion] as const]
  })
  const metadata = Object.entries(rule.metadata ?? {}).map(
    ([name, criterion]) => [`metadata.${name}`, criterion] as const,
  )
  return [...own, ...metadata]
}

function joined(words: readonly string[], word: 'and' | 'or'): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} ${word} ${words.at(-1)}`
}
