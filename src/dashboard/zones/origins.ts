// The health of a zone's origins, live.

import { type Html, html } from '../../base/text/html.ts'
import { notice, isolated } from '../../pages/parts/components.ts'
import { badge, emptyState, table } from '../parts/lists.ts'
import { codeBlock, time } from '../parts/values.ts'
import { crumbsOf, inZone, tabsOf, zoneOf } from './page-data.ts'
import { count } from './zone.ts'

interface Pool {
  readonly pool: string
  readonly routes: readonly string[]
  readonly origins: readonly Origin[]
}

interface Origin {
  readonly url: string
  readonly weight: number
  /** The effective share of its weight, from 0 to 1. */
  readonly share: number
  readonly state: 'unchecked' | 'healthy' | 'failing' | 'ejected' | 'trial' | 'down'
  readonly since: string
  readonly ejections: number
  readonly consecutive_failures: number
  readonly ejected_until: string | null
  readonly outstanding: number
  readonly connections: number
  readonly http2_connections: number
  readonly queued: number
  readonly check: {
    readonly last_check_at: string
    readonly next_check_at: string
    /** Ms. */
    readonly last_duration: number
    readonly last_status: number | null
    readonly last_error: string | null
  } | null
}

export const showOrigins = inZone(async (request, zone) => {
  const response = await request.api.get<Pool[]>(zoneOf(request, 'origins'))
  return {
    title: 'Origins',
    crumbs: crumbsOf(request, zone),
    isWide: true,
    content: html`${tabsOf(request, zone)}<div id="origins" data-live="5">${
      response.result.length === 0
        ? emptyState(
            'No origins',
            html`The routes of this zone lead to no pool of origins. The operator of this gateway adds a pool and a route to the configuration file, and reloads it with <code>gatehouse reload</code>.`,
            codeBlock('In the configuration file', poolExample),
          )
        : response.result.map(poolPart)
    }</div>`,
  }
})

const poolExample = `pools:
  site: { origins: ['http://127.0.0.1:3000'] }
zones:
  - hosts: [www.example.com]
    routes: [{ path: /, pool: site }]
`

function poolPart({ pool, routes, origins }: Pool): Html {
  const isServing = origins.some(({ state }) => kinds[state] !== 'bad')
  return html`<h2 class="over">${isolated(pool)} <span class="hint">for ${routes.map((route, i) => [i > 0 && ', ', html`<code>${route}</code>`])}</span></h2>
${!isServing && notice('No origin of this pool is healthy.', 'bad')}${table(`Origins of ${pool}`, columns, origins)}`
}

const kinds = {
  unchecked: '',
  healthy: 'good',
  failing: 'bad',
  ejected: 'bad',
  trial: '',
  down: 'bad',
} as const

const columns = [
  {
    title: 'Origin',
    isName: true,
    cell: ({ url, weight, share }: Origin) =>
      html`<div class="origin"><code class="long">${url}</code><p class="hint">weight ${weight}${share < 1 && `, ${Math.round(share * 100)}% of it now`}</p></div>`,
  },
  {
    title: 'State',
    cell: ({ state, since, ejected_until }: Origin) =>
      html`<div>${badge(state, kinds[state])}<p class="hint">since ${time(since)}${ejected_until !== null && html`, until ${time(ejected_until)}`}</p></div>`,
  },
  {
    title: 'Last check',
    cell: ({ check }: Origin) =>
      check === null
        ? html`<span class="hint">no active checks</span>`
        : html`<div>${check.last_error === null ? `${check.last_status}` : isolated(check.last_error)} after ${round(check.last_duration)} ms<p class="hint">${time(check.last_check_at)}</p></div>`,
  },
  {
    title: 'Load',
    cell: ({ outstanding, connections, http2_connections: http2, queued }: Origin) =>
      html`<div>${count(outstanding, 'request')} under way<p class="hint">${count(connections, 'connection')}${http2 > 0 && ` (${http2} HTTP/2)`}${queued > 0 && `, ${queued} queued`}</p></div>`,
  },
  {
    title: 'Failures',
    cell: ({ consecutive_failures: failures, ejections }: Origin) =>
      html`<div>${failures === 0 ? 'none' : `${failures} in a row`}<p class="hint">${ejections === 0 ? 'never ejected' : `ejected ${count(ejections, 'time')}`}</p></div>`,
  },
]

function round(ms: number): number {
  return ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)
}
