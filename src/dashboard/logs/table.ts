// Log entries as a table.

import { type Html, html } from '../../base/text/html.ts'
import type { PageRequest } from '../page/page-request.ts'
import { badge, longTable } from '../parts/lists.ts'
import { dollars, grouped } from '../parts/numbers.ts'
import { exactTime, oneLine } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { callerOf, type Log, span } from './log.ts'

/** Maximum of characters of a name in a row. */
const enough = 24

/** Makes the table of entries of the page's gateway, in their order. */
export function logTable({ account, params }: PageRequest, logs: readonly Log[]): Promise<Html> {
  const columns = [
    {
      title: 'When',
      isName: true,
      cell: ({ id, created_at }: Log) =>
        html`<a href="${paths.log(account.id, params.gateway!, id)}">${exactTime(created_at)}</a>`,
    },
    { title: 'Status', cell: statusOf },
    {
      title: 'Model',
      cell: ({ model, provider }: Log) =>
        html`<div>${oneLine(model ?? 'Unknown', enough)} <span class="hint">${provider}</span></div>`,
    },
    { title: 'Caller', cell: callerCell },
    { title: 'Tokens', isNumber: true, cell: tokensOf },
    { title: 'Cost', isNumber: true, cell: costOf },
    { title: 'Took', isNumber: true, cell: ({ duration }: Log) => span(duration) },
  ]
  return longTable('Calls', columns, logs)
}

/** Shows the status of a call, and the name of its error. */
function statusOf(log: Log): Html {
  return html`<div>${statusBadge(log)}${log.error !== null && html` <span class="hint">${oneLine(log.error, enough)}</span>`}</div>`
}

export function statusBadge({ status_code, success }: Log): Html {
  return badge(String(status_code), success ? 'good' : 'bad')
}

function callerCell(log: Log): Html {
  const { user_email: email } = log
  return html`<div>${oneLine(callerOf(log), enough)}${email !== undefined && html` <span class="hint">${oneLine(`for ${email}`, enough)}</span>`}</div>`
}

function tokensOf({ tokens_in, tokens_out }: Log): Html {
  if (tokens_in === null && tokens_out === null) return html`?`
  return html`<div>${countOf(tokens_in)} in <br><span class="hint">${countOf(tokens_out)} out</span></div>`
}

function costOf({ cost, cached, saved_cost: saved }: Log): Html {
  if (!cached) return html`${cost === null ? '?' : dollars(cost)}`
  return html`<div>${dollars(cost ?? 0)}<br><span class="hint">${saved == null ? 'reused' : `saved ${dollars(saved)}`}</span></div>`
}

function countOf(count: number | null): string {
  return count === null ? '?' : grouped(count)
}
