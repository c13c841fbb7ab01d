// What a rule allows, in words for people who meet it.

import type { BudgetUnit, SpendRule } from '../store/records/budget-rule.ts'

/** Returns what a rule allows, as `$5.00 a day`, `10,000 tokens in any hour` or `4 calls at a time`. */
export function allowanceInWords(
  unit: BudgetUnit,
  limit: number,
  window: Pick<SpendRule, 'window' | 'technique'>,
): string {
  const words = windowInWords(window)
  return words === null ? amountInWords(unit, limit) : `${amountInWords(unit, limit)} ${words}`
}

/** Writes nanodollars, tokens, or calls at a time. */
export function amountInWords(unit: BudgetUnit, amount: number): string {
  if (unit === 'cost') return dollarsOf(amount)
  const name = unit === 'tokens' ? 'token' : 'call'
  const count = `${grouped(amount)} ${amount === 1 ? name : `${name}s`}`
  return unit === 'tokens' ? count : `${count} at a time`
}

/** Writes a window, as `a month`, `every 90 minutes` or `in any hour`; null for calls at a time. */
export function windowInWords({ window, technique }: Pick<SpendRule, 'window' | 'technique'>): string | null {
  if (window === null) return null
  if (typeof window === 'string') return `a ${window}`
  const [length, name] = spans.find(([length]) => window % length === 0)!
  const count = window / length
  const span = count === 1 ? name : `${grouped(count)} ${name}s`
  return technique === 'sliding' ? `in any ${span}` : `every ${span}`
}

/** Seconds. */
const spans = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

/** Exact, with two places or more. */
function dollarsOf(nanodollars: number): string {
  const rest = nanodollars % 1e9
  const places = String(rest).padStart(9, '0').replace(/0+$/, '').padEnd(2, '0')
  return `$${grouped((nanodollars - rest) / 1e9)}.${places}`
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}
