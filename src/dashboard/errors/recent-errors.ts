// The errors of the last day, by zone and code, with the requests that got them.

import { type Html, html } from '../../base/text/html.ts'
import { isolated } from '../../pages/parts/components.ts'
import { apiPath } from '../page/api-client.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { emptyState, pager, table } from '../parts/lists.ts'
import { grouped } from '../parts/numbers.ts'
import { brief, exactTime, time } from '../parts/values.ts'
import { paths, withQuery } from '../page/paths.ts'
import { type Zone, zoneNamed, zonesOf } from './page-data.ts'

interface ErrorGroup {
  readonly place: 'zone' | 'ai_gateway' | 'ai_host' | 'unknown_host'
  readonly zone: string | null
  readonly gateway_id: string | null
  readonly code: number
  readonly title: string | null
  readonly count: number
  readonly last_at: string
  readonly occurrences: readonly Occurrence[]
}

interface Occurrence {
  readonly at: string
  readonly ray: string
  readonly method: string
  readonly host: string
  readonly path: string
  /** 0 if the client disconnected before it got any. */
  readonly status: number
  readonly format: string
}

const onAPage = 20
/** Maximum of zones in lists and choices; the others are found by their names. */
const maxZones = 20
/** If a page has more errors than these, it shows only as many requests of each. */
const fewErrors = 3
const fewRequests = 3

export const showRecentErrors: Handler = async request => {
  const { query, account } = request
  const name = query.get('zone')
  const [zones, zone] = await Promise.all([zonesOf(request), name ? zoneNamed(request, name) : null])
  const code = query.get('code')?.trim() ?? ''
  const ray = query.get('ray')?.trim().toLowerCase() ?? ''
  const place =
    zone === null ? apiPath('accounts', account.id, 'errors') : apiPath('zones', zone.result.id, 'errors')
  const response = await request.api.get<ErrorGroup[]>(place, {
    page: query.get('page'),
    per_page: onAPage,
    code: /^\d{3,4}$/.test(code) ? code : null,
    order: query.get('order') === 'count' ? 'count' : null,
    ray: /^[0-9a-f]{16}$/.test(ray) ? ray : null,
  })
  const isFiltered = code !== '' || zone !== null || ray !== ''
  return {
    title: 'Errors',
    isWide: true,
    ...(request.may('Custom Errors Read') && {
      actions: html`<a class="button plain small" href="${paths.errorCodes(account.id)}">All codes</a>`,
    }),
    content: html`<p class="lead">Which errors the clients of this account got in the last day.</p>${searchForm(request, zones)}<div id="errors" data-live="15">${
      response.result.length === 0
        ? emptyState(
            isFiltered ? 'Nothing found' : 'No errors in the last day',
            isFiltered
              ? 'No such error happened in the last day.'
              : 'Each error that the gateway responds with is counted here, with the rays of the last requests that got it.',
            isFiltered
              ? html`<a href="${paths.errors(account.id)}">All errors of the last day</a>`
              : request.may('Custom Errors Read')
                ? html`<a href="${paths.errorCodes(account.id)}">See what clients would get</a>`
                : null,
          )
        : table(
            'Errors of the last day',
            columnsOf(request, response.result.length <= fewErrors),
            response.result,
          )
    }${pager(paths.errors(account.id), query, response.info!)}</div>${request.may('Custom Errors Read') && zoneLinks(request, zones)}`,
  }
}

function zoneLinks({ account, query }: PageRequest, zones: readonly Zone[]): Html | null {
  if (zones.length === 0) return null
  const part = query.get('zone') ?? ''
  const visible = zones.filter(({ id }) => id.includes(part)).slice(0, maxZones)
  const more = zones.length - visible.length
  return html`<section class="card" aria-labelledby="own"><h2 id="own">Your own errors</h2><p class="hint">Rules and pages that a zone serves in place of those of Gatehouse.</p><ul class="rows">${visible.map(
    ({ id, hosts }) =>
      html`<li><div><a href="${paths.errorZone(account.id, id)}">${isolated(id)}</a> <p>${hosts.slice(0, 3).join(', ')}${hosts.length > 3 && ' …'}</p></div></li>`,
  )}</ul>${more > 0 && html`<p class="hint">And ${grouped(more)} more: search for a zone above.</p>`}</section>`
}

function searchForm({ account, query }: PageRequest, zones: readonly Zone[]): Html {
  const option = (value: string, text: string, name: string) =>
    html`<option value="${value}"${query.get(name) === value && html` selected`}>${text}</option>`
  const zone = query.get('zone') ?? ''
  return html`<form class="search" role="search" method="get" action="${paths.errors(account.id)}">
<div class="field"><label for="search-code">Code</label><input id="search-code" name="code" type="search" inputmode="numeric" value="${query.get('code') ?? ''}" autocomplete="off"></div>
<div class="field"><label for="search-zone">Zone</label>${
    zones.length > maxZones
      ? html`<input id="search-zone" name="zone" type="search" value="${zone}" autocomplete="off">`
      : html`<select id="search-zone" name="zone"><option value="">All</option>${zones.map(({ id }) => option(id, id, 'zone'))}</select>`
  }</div>
<div class="field"><label for="search-order">Sort by</label><select id="search-order" name="order">${option('last', 'Latest', 'order')}${option('count', 'Most frequent', 'order')}</select></div>
<div class="field"><label for="search-ray">Ray</label><input id="search-ray" name="ray" type="search" value="${query.get('ray') ?? ''}" autocomplete="off" autocapitalize="none" spellcheck="false"></div>
<button class="plain">Search</button></form>`
}

function columnsOf(request: PageRequest, areFew: boolean) {
  const { account, may } = request
  return [
    {
      title: 'Code',
      isName: true,
      cell: ({ code, zone, title }: ErrorGroup) =>
        title !== null && may('Custom Errors Read')
          ? html`<a href="${withQuery(paths.errorCode(account.id, String(code)), { zone })}">${code}</a>`
          : html`${code}`,
    },
    {
      title: 'Error',
      cell: (one: ErrorGroup) =>
        html`<div>${one.title ?? 'Unknown to this version'}${requestsOf(request, one, areFew)}</div>`,
    },
    { title: 'Where', cell: (one: ErrorGroup) => placeOf(request, one) },
    { title: 'Times', isNumber: true, cell: ({ count }: ErrorGroup) => grouped(count) },
    { title: 'Last', cell: ({ last_at }: ErrorGroup) => time(last_at) },
  ]
}

function placeOf({ account, may }: PageRequest, { place, zone, gateway_id }: ErrorGroup): Html {
  switch (place) {
    case 'zone':
      return may('Zones Read')
        ? html`<a href="${paths.zone(account.id, zone!)}">${isolated(zone!)}</a>`
        : isolated(zone!)
    case 'ai_gateway': {
      if (gateway_id === null) return html`AI gateways`
      const name = isolated(gateway_id)
      return html`AI gateway ${may('AI Gateway Read') ? html`<a href="${paths.gateway(account.id, gateway_id)}">${name}</a>` : name}`
    }
    case 'ai_host':
      return html`AI host, no gateway`
    case 'unknown_host':
      return html`hosts of no zone`
  }
}

function requestsOf(
  { account, query }: PageRequest,
  { occurrences, code, zone }: ErrorGroup,
  isWhole: boolean,
): Html | null {
  if (occurrences.length === 0) return null
  const visible = isWhole ? occurrences : occurrences.slice(0, fewRequests)
  const show = isWhole ? String : brief
  const all = withQuery(paths.errors(account.id), { code: String(code), zone })
  return html`<details class="requests"${query.has('ray') && html` open`}><summary>${visible.length === 1 ? 'The request' : `The last ${visible.length} requests`}</summary><ul class="plain-list">${visible.map(
    ({ at, ray, method, host, path, status, format }) =>
      html`<li><code>${ray}</code> ${exactTime(at)}<br><span class="hint long">${isolated(method)} ${isolated(show(`${host}${path}`))}: ${status === 0 ? 'the client left' : `${status}, as ${format}`}</span></li>`,
  )}</ul>${visible.length < occurrences.length && html`<p><a href="${all}">More of them</a></p>`}</details>`
}
