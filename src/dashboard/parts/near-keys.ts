// The keys closest to a limit, in the form of the management API.

import { type Html, html } from '../../base/text/html.ts'
import { badge, table } from './lists.ts'
import { grouped } from './numbers.ts'

export interface NearKey {
  readonly key: readonly { readonly by: string; readonly value: string | null }[]
  readonly used: number
  readonly remaining: number
  /** Seconds. */
  readonly reset: number
}

/** Makes the table of the keys that have used most of a limit. */
export function nearTable(name: string, limit: number, nearest: readonly NearKey[]): Html {
  if (nearest.length === 0) return html`<p class="hint">Nothing was counted lately.</p>`
  const columns = [
    { title: 'Nearest to it', isName: true, cell: keyOf },
    {
      title: 'Used',
      cell: ({ used }: NearKey) =>
        html`<div><meter min="0" max="${limit}" high="${limit * 0.8}" value="${used}">${used}</meter> ${grouped(used)} of ${grouped(limit)}</div>`,
    },
    {
      title: 'Left',
      isNumber: true,
      cell: ({ remaining }: NearKey) => (remaining === 0 ? badge('none', 'bad') : grouped(remaining)),
    },
    { title: 'Resets in', isNumber: true, cell: ({ reset }: NearKey) => `${reset} s` },
  ]
  return table(`Nearest to ${name}`, columns, nearest)
}

function keyOf({ key }: NearKey): Html {
  if (key.length === 0) return html`all requests`
  return html`<span class="long">${key.map(({ by, value }, i) => [i > 0 && ', ', `${by} `, value === null ? 'of a long value' : html`<code>${value}</code>`])}</span>`
}
