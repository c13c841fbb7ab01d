// What is spent and reserved of budgets, as bars with their figures.

import { type Html, html } from '../../base/text/html.ts'
import { isolated } from '../../pages/parts/components.ts'
import { badge, table } from '../parts/lists.ts'
import { brief, time } from '../parts/values.ts'
import { amountIn, amountInWords, type Bucket, partitionsOf, type Rule, spanUntil } from './rule.ts'

/** The part of a limit from which a budget is shown as near it. */
const near = 0.8

/** Returns what part of its limit a budget has spent and reserved. */
export function shareOf({ spent, leased, limit }: Bucket): number {
  return (spent + leased) / limit
}

function isNear(bucket: Bucket): boolean {
  return shareOf(bucket) >= near
}

/** Makes a bar of one budget, with its figures below. */
export function budgetBar(rule: Pick<Rule, 'limitType'>, bucket: Bucket, label: string): Html {
  const { spent, leased, limit } = bucket
  const unit = rule.limitType
  const parts = [
    unit === 'concurrency' ? null : `${amountIn(unit, spent)} spent`,
    leased === 0 && unit !== 'concurrency' ? null : `${amountIn(unit, leased)} reserved`,
  ].filter(part => part !== null)
  const words = `${parts.join(', ')} of ${amountInWords(unit, limit)}`
  const whole = Math.max(limit, spent + leased)
  const at = (amount: number) => Math.round((amount / whole) * 1000)
  const end = at(spent + leased)
  return html`<div class="budget-bar"><div role="meter" aria-label="${label}" aria-valuemin="0" aria-valuemax="${whole}" aria-valuenow="${spent + leased}" aria-valuetext="${words}"><svg viewBox="0 0 1000 1" preserveAspectRatio="none" aria-hidden="true"${isNear(bucket) && html` class="near"`}><path d="M0 .5H${at(spent)}"/>${leased > 0 && html`<path class="reserved" d="M${at(spent)} .5H${end}"/>`}</svg></div><p class="hint" aria-hidden="true">${words}</p></div>`
}

/** Writes what is left, with words after the amount; a word in a frame says that it is little. */
export function leftOf(rule: Pick<Rule, 'limitType'>, bucket: Bucket, after = ''): Html {
  if (bucket.remaining === 0) return badge('used up', 'bad')
  const amount = amountIn(rule.limitType, bucket.remaining)
  return html`${amount}${after}${isNear(bucket) && html` ${badge('nearly used up', 'bad')}`}`
}

/** Writes when all budgets of a rule start over: each window is that of all of them. */
export function startOf(rule: Rule, [bucket]: readonly Bucket[], now: number): Html {
  if (rule.limitType === 'concurrency') return html`Free again as calls end.`
  if (rule.technique === 'sliding') return html`Free again bit by bit, after that time.`
  const at = bucket?.resets_at ?? null
  return at === null ? html`` : html`Starts over in ${spanUntil(at, now)} (${time(at)}).`
}

/** Makes the table of the budgets of a rule; `reset` makes the path of the page that starts one over. */
export function budgetTable(
  rule: Rule,
  buckets: readonly Bucket[],
  reset: ((bucket: Bucket) => string) | null,
): Html {
  const by = partitionsOf(rule)
  const columns = [
    {
      title: by.length === 0 ? 'Budget' : capitalized(by.join(', ')),
      isName: true,
      cell: (bucket: Bucket) => html`<span class="long">${keyOf(bucket)}</span>`,
    },
    { title: 'Used', cell: (bucket: Bucket) => budgetBar(rule, bucket, keyInWords(bucket)) },
    { title: 'Left', isNumber: true, cell: (bucket: Bucket) => leftOf(rule, bucket) },
    ...(reset === null
      ? []
      : [
          {
            title: 'Change',
            cell: (bucket: Bucket) =>
              html`<a class="button plain small" href="${reset(bucket)}">Reset…<span class="unseen"> ${keyInWords(bucket)}</span></a>`,
          },
        ]),
  ]
  return table(`Budgets of ${rule.id}`, columns, buckets)
}

const maxKey = 60

/** Writes for whom or what a budget is. */
export function keyOf({ key }: Bucket): Html {
  if (key.length === 0) return html`All calls`
  return html`${key.map(({ by, value, name }, i) => [
    i > 0 && ', ',
    value === null ? `no ${by}` : isolated(brief(name ?? value, maxKey)),
  ])}`
}

export function keyInWords({ key }: Bucket): string {
  if (key.length === 0) return 'All calls'
  return key
    .map(({ by, value, name }) => (value === null ? `no ${by}` : brief(name ?? value, maxKey)))
    .join(', ')
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
