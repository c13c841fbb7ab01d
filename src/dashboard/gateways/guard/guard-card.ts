// What the guard of a gateway does, as a part of the gateway's page.

import { type Html, html } from '../../../base/text/html.ts'
import { everyPattern } from '../../../guard/patterns.ts'
import { notice } from '../../../pages/parts/components.ts'
import type { PageRequest } from '../../page/page-request.ts'
import { paths } from '../../page/paths.ts'
import { table } from '../../parts/lists.ts'
import type { Gateway } from '../gateway.ts'
import { checks, choicesOf, fieldOf, rows } from './choices.ts'
import { actionWords, checkWords } from './words.ts'

export function guardCard(request: PageRequest, { id, dlp: guard }: Gateway, mayEdit: boolean): Html {
  const choices = choicesOf(guard)
  const chosen = rows.filter(row => checks.some(check => choices[fieldOf(check, row)] !== ''))
  const change = html`<p><a class="button plain small" href="${paths.guard(request.account.id, id)}">${chosen.length === 0 ? 'Set up the guard' : 'Change the guard'}</a></p>`
  const webhook = guard?.webhook ?? null
  const asked =
    webhook !== null &&
    html`<p>Behind the patterns, the webhook <code>${webhook.url}</code> decides about ${webhook.check.map(check => checkWords[check].toLowerCase()).join(' and ')}.</p>`
  return html`<section class="card" aria-labelledby="guard"><h2 id="guard">Guard</h2>${
    guard?.enabled === false && notice('The guard is switched off.', 'bad')
  }${
    chosen.length === 0
      ? html`<p class="hint">Nothing is looked for in calls: neither keys nor card numbers.</p>`
      : html`${table(
          'What happens to what is found',
          [
            { title: 'Pattern', cell: nameOf, isName: true },
            ...checks.map(check => ({
              title: checkWords[check],
              cell: (row: string) => {
                const own = choices[fieldOf(check, row)]!
                const choice = own === '' ? choices[fieldOf(check, everyPattern)]! : own
                return choice === '' ? 'Off' : actionWords[choice]
              },
            })),
          ],
          chosen,
        )}`
  }${asked}${mayEdit && change}</section>`
}

function nameOf(row: string): Html {
  return row === everyPattern ? html`All patterns` : html`<code>${row}</code>`
}
