// What is spent of the limits of policies in effect, and how many calls each policy refused.

import { type Html, html } from '../../../base/text/html.ts'
import { isolated } from '../../../pages/parts/components.ts'
import { budgetBar, keyInWords, keyOf, leftOf } from '../../budgets/bars.ts'
import type { Bucket } from '../../budgets/rule.ts'
import { refusedLately } from '../../budgets/rule-cards.ts'

export interface PolicyBudgets {
  /** Null for the calls that no policy allows. */
  readonly policy: { readonly id: string; readonly name: string } | null
  readonly refused_last_day: number
  readonly budgets: readonly PolicyBudget[]
}

interface PolicyBudget extends Omit<Bucket, 'id' | 'key' | 'limit'> {
  readonly budget_id: string
  readonly identity: string | null
  readonly name: string | null
  readonly amount: number
}

/** How many budgets of one policy are shown, those with the most spent. */
const maxShown = 8

/** Null if there are no limits, and nothing was refused. */
export function spentCard(rows: readonly PolicyBudgets[]): Html | null {
  const shown = rows.filter(({ budgets, refused_last_day }) => budgets.length + refused_last_day > 0)
  if (shown.length === 0) return null
  const list = html`<ul class="rows">${shown.map(row)}</ul>`
  return html`<section class="card" aria-labelledby="spent"><h2 id="spent">Spent and refused</h2><div id="spending" data-live="5">${list}</div></section>`
}

function row({ policy, budgets, refused_last_day: refused }: PolicyBudgets): Html {
  const name = policy?.name ?? 'Allowed by no policy'
  const more = budgets.length - maxShown
  return html`<li><div><h3 class="long">${isolated(name)}</h3>${refusedLately(refused)}${budgets
    .slice(0, maxShown)
    .map(budget =>
      bar(name, budget),
    )}${more > 0 && html`<p class="hint">And ${more} with less spent.</p>`}</div></li>`
}

function bar(policy: string, { budget_id: id, identity, name, amount, ...sums }: PolicyBudget): Html {
  const key = identity === null ? [] : [{ by: 'identity', value: identity, ...(name !== null && { name }) }]
  const bucket: Bucket = { id, key, limit: amount, ...sums }
  const unit = { limitType: 'cost' } as const
  return html`<p class="long">${keyOf(bucket)}: ${leftOf(unit, bucket, ' left')}</p>${budgetBar(unit, bucket, `${policy}, ${keyInWords(bucket)}`)}`
}
