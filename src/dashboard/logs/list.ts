// The calls of an AI gateway, latest first, with new ones as they arrive.

import { html } from '../../base/text/html.ts'
import type { Failure } from '../page/api-client.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { emptyState } from '../parts/lists.ts'
import { paths, withQuery } from '../page/paths.ts'
import { crumbsOf, gatewayOf } from '../gateways/page-data.ts'
import { askedBy, filterForm, type Filters, filtersOf, rangeLinks, withoutTime } from './filters.ts'
import type { Log } from './log.ts'
import { logTable } from './table.ts'

const onAPage = 36
/** Maximum of entries that a page scans. */
const maxScanned = 20_000

export const showLogs: Handler = async request => {
  const filters = filtersOf(request.query)
  const cursor = request.query.get('cursor')
  const response = await request.api.tryGet<readonly Log[]>(gatewayOf(request, 'logs'), {
    ...askedBy(filters, request.now),
    cursor,
    per_page: onAPage,
    max_scanned: maxScanned,
  })
  const { account, params } = request
  const path = paths.logs(account.id, params.gateway!)
  const page = {
    title: 'Logs',
    crumbs: crumbsOf(request, true),
    isWide: true,
    actions: html`<a class="button plain" href="${withQuery(paths.liveLogs(account.id, params.gateway!), withoutTime(filters))}">Live</a><a class="button plain" href="${withQuery(paths.charts(account.id, params.gateway!), { ...withoutTime(filters), range: filters.range ?? null })}">Charts</a>`,
  }
  const form = (failure: Failure | null = null) =>
    html`${rangeLinks(path, filters)}${filterForm({ path, filters, failure, hasTime: true })}`
  if (!response.ok) {
    if (response.status !== 400) return response
    return { ...page, status: 422, content: form(response) }
  }
  const next = response.info!.cursor ?? null
  return {
    ...page,
    content: html`${form()}${
      response.result.length === 0
        ? emptyOf(request, filters, next)
        : await logTable(request, response.result)
    }${pagerOf(path, filters, cursor, next)}`,
  }
}

export const showLiveLogs: Handler = async request => {
  const filters = withoutTime(filtersOf(request.query))
  const response = await request.api.tryGet<readonly Log[]>(gatewayOf(request, 'logs', 'tail'), {
    ...filters,
    per_page: onAPage,
  })
  const { account, params } = request
  const path = paths.liveLogs(account.id, params.gateway!)
  const page = {
    title: 'Live logs',
    crumbs: [...crumbsOf(request, true), { title: 'Logs', path: paths.logs(account.id, params.gateway!) }],
    isWide: true,
    actions: html`<a class="button plain" href="${withQuery(paths.logs(account.id, params.gateway!), filters)}">All logs</a>`,
  }
  if (!response.ok) {
    if (response.status !== 400) return response
    return { ...page, status: 422, content: filterForm({ path, filters, failure: response, hasTime: false }) }
  }
  return {
    ...page,
    content: html`${filterForm({ path, filters, hasTime: false })}<p class="lead">New calls are shown as they come. Without script, load the page again.</p><div id="tail" data-live="2">${
      response.result.length === 0
        ? emptyState('Waiting for calls', 'None has come yet.', sending(request))
        : await logTable(request, response.result.toReversed())
    }</div>`,
  }
}

function emptyOf(request: PageRequest, filters: Filters, next: string | null) {
  if (next !== null)
    return emptyState(
      'None so far',
      `None of the ${maxScanned} calls that were looked at matches. Go on with older ones.`,
    )
  if (Object.keys(filters).length > 0)
    return emptyState('No call matches', 'Take a filter away, or widen the time.')
  return emptyState(
    'No calls yet',
    'Each call that went to a provider is here, with its tokens, its cost and how long it took. Calls that were refused are not.',
    sending(request),
  )
}

/** Links to where a call can be sent; null if the person cannot. */
function sending({ account, params, may, gatewayEndpoint: entrance }: PageRequest) {
  if (entrance === null || !may('AI Gateway Run')) return null
  return html`<a class="button" href="${paths.testGateway(account.id, params.gateway!)}">Send a test request</a>`
}

function pagerOf(path: string, filters: Filters, cursor: string | null, next: string | null) {
  if (cursor === null && next === null) return null
  return html`<nav class="pager" aria-label="Pages">${cursor !== null && html`<a class="button plain small" rel="first" href="${withQuery(path, filters)}">Latest</a>`}${next !== null && html`<a class="button plain small" rel="next" href="${withQuery(path, { ...filters, cursor: next })}">Older</a>`}</nav>`
}
