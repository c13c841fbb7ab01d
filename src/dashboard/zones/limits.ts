// The rate limits and quotas of a zone, and the clients close to them, live.

import { type Html, html } from '../../base/text/html.ts'
import { formatDuration } from '../../base/text/quantity.ts'
import { facts, isolated } from '../../pages/parts/components.ts'
import { badge, emptyState } from '../parts/lists.ts'
import { type NearKey, nearTable } from '../parts/near-keys.ts'
import { grouped } from '../parts/numbers.ts'
import { codeBlock } from '../parts/values.ts'
import { crumbsOf, inZone, tabsOf, zoneOf } from './page-data.ts'

interface Limit {
  readonly kind: 'rate_limit' | 'quota'
  readonly name: string
  readonly applies_to: 'all_zones' | 'zone' | 'route'
  readonly route: string | null
  readonly limit: number
  readonly window: 'sliding' | 'day' | 'month'
  /** Seconds. */
  readonly period: number | null
  readonly key: readonly string[]
  readonly when: string | null
  readonly action: 'block' | 'log'
  readonly over_last_hour: number
  /** Null if it may include clients of other accounts. */
  readonly nearest: readonly NearKey[] | null
}

export const showLimits = inZone(async (request, zone) => {
  const response = await request.api.get<Limit[]>(zoneOf(request, 'rate_limits'))
  return {
    title: 'Limits',
    crumbs: crumbsOf(request, zone),
    isWide: true,
    content: html`${tabsOf(request, zone)}<div id="limits" data-live="5">${
      response.result.length === 0
        ? emptyState(
            'No limits',
            html`Rate limits bound how often a client may come, and quotas how many requests a zone gets in a day or month. The operator of this gateway adds them to the zone in the configuration file, and reloads it with <code>gatehouse reload</code>.`,
            codeBlock('In the zone', limitsExample),
          )
        : response.result.map(limitCard)
    }</div>`,
  }
})

const limitsExample = `rate_limits: [{ name: per-address, rate: 100/m, key: address }]
quota: { day: 100000 }
`

function limitCard(limit: Limit): Html {
  const { name, applies_to, route, key, when, action, over_last_hour: over } = limit
  return html`<div class="card"><h2>${isolated(name)}${action === 'log' && html` ${badge('only logged')}`}</h2>${facts(
    [
      ['Allows', allowedBy(limit)],
      [
        'Counts',
        applies_to === 'all_zones'
          ? 'requests to all zones'
          : route === null
            ? 'requests to this zone'
            : html`requests below <code>${route}</code>`,
      ],
      ['Separately by', key.length === 0 ? 'nothing: all together' : key.join(' and ')],
      ['Only where', when === null ? null : html`<code class="long">${when}</code>`],
      [
        'Last hour',
        over === 0
          ? 'nobody went over it'
          : badge(`${over} ${action === 'log' ? 'went over it' : 'refused'}`, 'bad'),
      ],
    ],
  )}${nearestOf(limit)}</div>`
}

function allowedBy({ limit, window, period }: Limit): string {
  return window === 'sliding'
    ? `${grouped(limit)} in ${formatDuration(Math.round(period! * 1000))}`
    : `${grouped(limit)} a ${window} (UTC)`
}

function nearestOf({ name, limit, nearest }: Limit): Html {
  return nearest === null
    ? html`<p class="hint">It counts clients of all zones, which only the oldest account may see.</p>`
    : nearTable(name, limit, nearest)
}
