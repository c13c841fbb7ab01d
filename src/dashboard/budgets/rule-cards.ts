// The budgets of a gateway or a token: a card for each rule, with what is spent.

import { type Html, html } from '../../base/text/html.ts'
import { badge } from '../parts/lists.ts'
import { grouped } from '../parts/numbers.ts'
import { brief } from '../parts/values.ts'
import { budgetBar, keyInWords, keyOf, leftOf, shareOf, startOf } from './bars.ts'
import {
  type Bucket,
  filtersInWords,
  partitionsOf,
  type Rule,
  type RuleBudgets,
  ruleInWords,
} from './rule.ts'

interface Cards {
  readonly rules: readonly Rule[]
  /** Of the rules that are in effect. */
  readonly budgets: readonly RuleBudgets[]
  readonly now: number
  /** Makes the path of a page below that of the budgets; null if the viewer may change none. */
  readonly change: ((...below: readonly string[]) => string) | null
  /** Makes the path of the page with all budgets of a rule. */
  readonly all?: (rule: Rule) => string
}

/** How many rows all tables of a page have together, and one at most. */
const maxRows = 40
const maxOfRule = 8

export function ruleCards({ rules, budgets, now, change, all }: Cards): Html {
  const byRule = new Map(budgets.map(({ rule, budgets }) => [rule.id, budgets]))
  const refused = new Map(budgets.map(one => [one.rule.id, one.refused_last_day]))
  const maxBuckets = Math.max(2, Math.min(maxOfRule, Math.floor(maxRows / Math.max(1, rules.length))))
  return html`${rules.map((rule, i) => {
    const buckets = byRule.get(rule.id) ?? []
    const title = `budget-${i}`
    const more = buckets.length - maxBuckets
    return html`<section class="card" aria-labelledby="${title}"><h2 id="${title}">${ruleInWords(rule)}${!byRule.has(rule.id) && html` ${badge('off')}`}</h2>${filterHint(rule)}${refusedLately(refused.get(rule.id) ?? 0)}${
      byRule.has(rule.id) && bucketsOf(rule, buckets.slice(0, maxBuckets), now, change)
    }${more > 0 && all !== undefined && html`<p><a href="${all(rule)}">And ${more} more</a></p>`}${
      change !== null &&
      html`<div class="actions">${[
        ['Edit', change(rule.id, 'edit')],
        ...(spentIn(buckets)
          ? [[buckets.length > 1 ? 'Reset all…' : 'Reset…', change(rule.id, 'reset')]]
          : []),
        ['Remove…', change(rule.id, 'delete')],
      ].map(
        ([word, path]) =>
          html`<a class="button plain small" href="${path!}">${word!}<span class="unseen"> ${ruleInWords(rule)}</span></a>`,
      )}</div>`
    }</section>`
  })}`
}

/** Shows how many calls a rule or policy has refused; null if none. */
export function refusedLately(count: number): Html | null {
  if (count === 0) return null
  return html`<p>${badge('refused', 'bad')} ${grouped(count)} ${count === 1 ? 'call' : 'calls'} in the last day</p>`
}

function spentIn(buckets: readonly Bucket[]): boolean {
  return buckets.some(({ spent }) => spent > 0)
}

/** Describes the calls that a rule governs, with its name. */
export function filterHint(rule: Rule): Html {
  const filters = filtersInWords(rule)
  const words = [
    filters === null ? null : brief(filters, 200),
    rule.time_zone === undefined || rule.time_zone === 'UTC' ? null : `Time of ${rule.time_zone}`,
    rule.when_store_unreachable === 'open' ? 'Admits calls while the store is unreachable' : null,
  ].filter(word => word !== null)
  return html`<p class="hint long">${words.map(word => `${word}. `)}Name: <code>${rule.id}</code></p>`
}

function bucketsOf(rule: Rule, buckets: readonly Bucket[], now: number, change: Cards['change']): Html {
  if (buckets.length === 0) return html`<p class="hint">Nothing is spent yet.</p>`
  if (partitionsOf(rule).length === 0) {
    const [bucket] = buckets
    return html`${budgetBar(rule, bucket!, ruleInWords(rule))}<p>${leftOf(rule, bucket!, ' left.')} <span class="hint">${startOf(rule, buckets, now)}</span></p>`
  }
  return html`<p class="hint">${startOf(rule, buckets, now)}</p><ul class="rows">${buckets.map(bucket =>
    bucketRow({ rule, bucket }, keyOf(bucket), keyInWords(bucket), change?.(bucket.id, 'reset') ?? null),
  )}</ul>`
}

function bucketRow({ rule, bucket }: Nearest, title: Html, label: string, reset: string | null): Html {
  return html`<li><div><h3 class="long">${title}</h3>${budgetBar(rule, bucket, label)}</div><p>${leftOf(rule, bucket, ' left')}</p>${
    reset !== null &&
    bucket.spent > 0 &&
    html`<a class="button plain small" href="${reset}">Reset…<span class="unseen"> ${label}</span></a>`
  }</li>`
}

interface Nearest {
  readonly rule: Rule
  readonly bucket: Bucket
}

/** Returns the budgets that have used most of their limits, those first. */
export function nearestOf(budgets: readonly RuleBudgets[], maxCount: number): readonly Nearest[] {
  return budgets
    .flatMap(({ rule, budgets }) => budgets.map(bucket => ({ rule, bucket })))
    .filter(({ bucket }) => shareOf(bucket) > 0)
    .toSorted((a, b) => shareOf(b.bucket) - shareOf(a.bucket))
    .slice(0, maxCount)
}

/** Makes the row of a budget in a list of those of several rules. */
export function nearestRow({ rule, bucket }: Nearest): Html {
  const words = ruleInWords(rule)
  const isWhole = bucket.key.length === 0
  const title = html`${!isWhole && html`${keyOf(bucket)}: `}${words}`
  return bucketRow({ rule, bucket }, title, isWhole ? words : `${keyInWords(bucket)}: ${words}`, null)
}
