// Log entries as a table.

import { type Html, html } from '../../base/text/html.ts'
import { told } from '../../pages/components.ts'
import type { Ask } from '../ask.ts'
import { badge, longTable } from '../parts/lists.ts'
import { dollars, grouped } from '../parts/numbers.ts'
import { brief, exactTime } from '../parts/values.ts'
import { paths } from '../paths.ts'
import { callerOf, type Log, span } from './log.ts'

/** Makes the table of entries of the gateway of a page, in the order that they have. */
export function logTable({ account, params }: Ask, logs: readonly Log[]): Promise<Html> {
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
        html`<span class="long">${told(brief(model ?? ''))}</span> <span class="hint">${provider}</span>`,
    },
    { title: 'Caller', cell: (log: Log) => html`<span class="long">${told(brief(callerOf(log)))}</span>` },
    { title: 'Tokens in', isNumber: true, cell: ({ tokens_in }: Log) => countOf(tokens_in) },
    { title: 'Out', isNumber: true, cell: ({ tokens_out }: Log) => countOf(tokens_out) },
    { title: 'Cost', isNumber: true, cell: ({ cost }: Log) => (cost === null ? '?' : dollars(cost)) },
    { title: 'Took', isNumber: true, cell: ({ duration }: Log) => span(duration) },
  ]
  return longTable('Calls', columns, logs)
}

/** Shows the status of a call, and the name of its error. */
export function statusOf({ status_code, success, error }: Log): Html {
  return html`${badge(String(status_code), success ? 'good' : 'bad')}${error !== null && html` <span class="hint">${error}</span>`}`
}

function countOf(count: number | null): string {
  return count === null ? '?' : grouped(count)
}
