// The first page of an account.

import { type Html, type HtmlValue, html } from '../../base/text/html.ts'
import { facts, isolated } from '../../pages/parts/components.ts'
import type { PageRequest, View } from '../page/page-request.ts'
import { chart } from '../parts/chart.ts'
import { badge, table } from '../parts/lists.ts'
import { dollars, grouped } from '../parts/numbers.ts'
import { time } from '../parts/values.ts'
import { paths, withQuery } from '../page/paths.ts'
import { type firstSteps, firstStepsPart } from './first-steps.ts'
import {
  type Attention,
  type CallSums,
  type Finding,
  type FrequentError,
  type Overview,
  sumOf,
  trafficOf,
} from './overview.ts'

interface OverviewParts {
  readonly ask: PageRequest
  readonly overview: Overview
  readonly attention: Attention
  readonly errors: readonly FrequentError[] | null
  /** Null if the list of first steps is not shown. */
  readonly steps: Awaited<ReturnType<typeof firstSteps>>
}

export async function overviewView({
  ask: request,
  overview,
  attention,
  errors,
  steps,
}: OverviewParts): Promise<View> {
  const { requests, origins, ai, store, process } = overview
  const first = steps !== null && firstStepsPart(request, steps)
  const needs = attentionPart(request, attention)
  return {
    title: 'Overview',
    isWide: true,
    content: html`<div id="overview" data-live="15">
${isUrgent(attention) ? [needs, first] : [first, needs]}
${requests !== undefined && trafficPart(requests, request.account.id)}
${requests?.hours.some(({ zones }) => zones.length > 0) === true && (await hourChart(requests))}
${ai !== undefined && ai.gateways.length > 0 && aiPart(ai, request.account.id)}
${ai !== undefined && ai.gateways.length > 0 && (await callChart(ai))}
${errors !== null && errorPart(request.account.id, errors)}
${origins !== undefined && origins.length > 0 && originPart(origins, request.account.id)}
${store !== undefined && process !== undefined && gatewayPart(store, process, overview.log_export)}
</div>`,
  }
}

const severities = { critical: 'Critical', warning: 'Warning', info: 'Advice' } as const

/** Maximum of findings on the overview: the most severe come first. */
const maxFindings = 40

/** Whether something is wrong, which is shown before suggestions for further set-up. */
function isUrgent({ items }: Attention): boolean {
  return items.some(({ severity }) => severity !== 'info')
}

function attentionPart(request: PageRequest, { at, counts, items: findings }: Attention): Html {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const items = findings.slice(0, maxFindings)
  const more = all - items.length
  return section(
    'attention',
    'Needs attention',
    items.length === 0
      ? html`<p>${at === null ? 'Gatehouse is looking. Load the page again in a moment.' : 'Nothing: all is well.'}</p>`
      : html`<ul class="rows">${items.map(
          item =>
            html`<li><div>${badge(severities[item.severity], item.severity === 'info' ? '' : 'bad')} <bdi class="long">${item.message}</bdi></div>${placeOf(request, item)}</li>`,
        )}</ul>${more > 0 && html`<p class="hint">And ${more} more.</p>`}`,
  )
}

function placeOf(request: PageRequest, { kind, resource }: Finding): Html | null {
  if (kind === 'few_super_administrators' && request.may('Members Write'))
    return html`<a href="${paths.newMember(request.account.id)}">Invite somebody</a>`
  if (resource === null) return null
  const path = pathOf(request, resource, kind)
  return path === null ? null : html`<a href="${path}">Open<span class="unseen"> ${resource.name}</span></a>`
}

function pathOf(
  { account: { id: account }, may }: PageRequest,
  { type, id }: NonNullable<Finding['resource']>,
  kind: Finding['kind'],
): string | null {
  if (kind.startsWith('certificate_')) return may('Zones Read') ? paths.zoneCertificates(account, id) : null
  switch (type) {
    case 'oauth_client':
      return may('OAuth Clients Read') ? paths.client(account, id) : null
    case 'token':
      return may('API Tokens Read') ? paths.token(account, id) : null
    case 'member':
      return may('Members Read') ? paths.member(account, id) : null
    case 'zone':
      return may('Origins Read') ? paths.zoneOrigins(account, id) : null
    case 'provider':
      return may('AI Gateway Read') ? paths.provider(account, id) : null
    case 'gateway':
      return may('AI Gateway Read') ? paths.gateway(account, id) : null
  }
}

const maxZones = 10

function moreZones(count: number, account: string): Html | null {
  const more = count - maxZones
  return more <= 0
    ? null
    : html`<p class="hint">And ${grouped(more)} more <a href="${paths.zones(account)}">zones</a>.</p>`
}

function trafficPart({ since, minutes, hours }: NonNullable<Overview['requests']>, account: string): Html {
  const [hour, day] = [trafficOf(minutes), trafficOf(hours)]
  if (day.length === 0)
    return section(
      'requests',
      'Requests',
      html`<p>No zone of this account has served a request since this gateway started, ${time(since)}. Once one does, it is counted here.</p>`,
    )
  const lately = new Map(hour.map(one => [one.zone, one]))
  const columns = [
    {
      title: 'Zone',
      isName: true,
      cell: ({ zone }: (typeof day)[number]) =>
        html`<a href="${paths.zone(account, zone)}">${isolated(zone)}</a>`,
    },
    {
      title: 'Last hour',
      isNumber: true,
      cell: ({ zone }: (typeof day)[number]) => grouped(lately.get(zone)?.requests ?? 0),
    },
    {
      title: 'Last 24 hours',
      isNumber: true,
      cell: ({ requests }: (typeof day)[number]) => grouped(requests),
    },
    {
      title: '4xx',
      isNumber: true,
      cell: ({ clientErrors, requests }: (typeof day)[number]) => share(clientErrors, requests),
    },
    {
      title: '5xx',
      isNumber: true,
      cell: ({ serverErrors, requests }: (typeof day)[number]) => share(serverErrors, requests),
    },
  ]
  return section(
    'requests',
    'Requests',
    html`<p class="hint">Through this gateway since it started, ${time(since)}.</p>${table('Requests by zone', columns, day.slice(0, maxZones))}${moreZones(day.length, account)}`,
  )
}

function hourChart({ hours }: NonNullable<Overview['requests']>): Promise<Html> {
  const sums = hours.map(sumOf)
  const others = sums.map(
    ({ requests, successes, clientErrors, serverErrors }) =>
      requests - successes - clientErrors - serverErrors,
  )
  return chart({
    id: 'hours',
    title: 'Requests by hour',
    windows: hours.map(({ at }) => at),
    series: [
      { name: 'Successes', values: sums.map(({ successes }) => successes) },
      { name: '4xx', colour: 4, values: sums.map(({ clientErrors }) => clientErrors) },
      { name: '5xx', colour: 1, values: sums.map(({ serverErrors }) => serverErrors) },
      ...(sums.some(({ previews }) => previews > 0)
        ? [{ name: 'Error previews', values: sums.map(({ previews }) => previews) }]
        : []),
      ...(others.some(count => count > 0) ? [{ name: 'Others', values: others }] : []),
    ],
    write: grouped,
  })
}

function aiPart(
  { is_complete: isComplete, price_date: priceDate, gateways }: NonNullable<Overview['ai']>,
  account: string,
): Html {
  type Row = (typeof gateways)[number]
  const columns = [
    {
      title: 'AI gateway',
      isName: true,
      cell: ({ gateway_id: id }: Row) => html`<a href="${paths.charts(account, id)}">${isolated(id)}</a>`,
    },
    { title: 'Calls', isNumber: true, cell: ({ count }: Row) => grouped(count) },
    { title: 'Errors', isNumber: true, cell: ({ errors, count }: Row) => share(errors, count) },
    {
      title: 'Tokens',
      isNumber: true,
      cell: ({ tokens_in, tokens_out }: Row) => grouped(tokens_in + tokens_out),
    },
    { title: 'Cost', isNumber: true, cell: costOf },
    // Most gateways reuse nothing.
    ...(gateways.some(({ count_cached: reused }) => reused > 0)
      ? [{ title: 'Saved', isNumber: true, cell: savedOf }]
      : []),
  ]
  const more = gateways.length - maxZones
  return section(
    'calls',
    'AI calls',
    html`<p class="hint">Of the last 24 hours, as far as they are in the logs.${!isComplete && ' The rest is being summed up.'} ${priceDate === null ? 'Nothing says of which day the list prices are.' : `The list prices are of ${priceDate}.`}</p>${table('AI calls by gateway', columns, gateways.slice(0, maxZones))}${more > 0 && html`<p class="hint">And more <a href="${paths.gateways(account)}">AI gateways</a>.</p>`}`,
  )
}

function costOf({ cost, count, count_without_cost: unknown }: CallSums): string {
  if (unknown === count) return 'unknown'
  return unknown === 0 ? dollars(cost) : `${dollars(cost)} and ${grouped(unknown)} unknown`
}

/** Shows what reused responses saved. */
function savedOf({
  count_cached: reused,
  saved_cost: cost,
  saved_tokens_in,
  saved_tokens_out,
}: CallSums): Html {
  if (reused === 0) return html`None`
  return html`<div>${dollars(cost)}<br><span class="hint">${grouped(saved_tokens_in + saved_tokens_out)} tokens, ${grouped(reused)} ${reused === 1 ? 'call' : 'calls'}</span></div>`
}

function callChart({ hours }: NonNullable<Overview['ai']>): Promise<Html> {
  return chart({
    id: 'call-hours',
    title: 'AI calls by hour',
    windows: hours.map(({ at }) => at),
    series: [
      { name: 'Successful', values: hours.map(({ count, errors }) => count - errors) },
      { name: 'Errors', values: hours.map(({ errors }) => errors) },
    ],
    write: grouped,
  })
}

function errorPart(account: string, errors: readonly FrequentError[]): Html {
  const columns = [
    {
      title: 'Code',
      isName: true,
      cell: ({ code, zone }: FrequentError) =>
        html`<a href="${withQuery(paths.errors(account), { zone, code: String(code) })}">${code}</a>`,
    },
    { title: 'Error', cell: ({ title }: FrequentError) => title ?? 'Unknown to this version' },
    { title: 'Where', cell: ({ zone, gateway_id: gateway }: FrequentError) => whereOf(zone, gateway) },
    { title: 'Times', isNumber: true, cell: ({ count }: FrequentError) => grouped(count) },
    { title: 'Last', cell: ({ last_at }: FrequentError) => time(last_at) },
  ]
  return section(
    'errors',
    'Errors of the last day',
    errors.length === 0
      ? html`<p>None.</p>`
      : html`${table('The most frequent errors of the last day', columns, errors)}<p><a href="${paths.errors(account)}">All errors, with their rays</a></p>`,
  )
}

function whereOf(zone: string | null, gateway: string | null): Html {
  if (zone !== null) return isolated(zone)
  return gateway === null ? html`outside of all zones` : html`AI gateway ${isolated(gateway)}`
}

function originPart(origins: NonNullable<Overview['origins']>, account: string): Html {
  type Row = (typeof origins)[number]
  const columns = [
    {
      title: 'Zone',
      isName: true,
      cell: ({ zone }: Row) => html`<a href="${paths.zoneOrigins(account, zone)}">${isolated(zone)}</a>`,
    },
    { title: 'Healthy', isNumber: true, cell: ({ healthy }: Row) => grouped(healthy) },
    { title: 'Unchecked', isNumber: true, cell: ({ unchecked }: Row) => grouped(unchecked) },
    { title: 'Failing', isNumber: true, cell: ({ failing }: Row) => bad(failing) },
    { title: 'On trial', isNumber: true, cell: ({ trial }: Row) => grouped(trial) },
    { title: 'Ejected', isNumber: true, cell: ({ ejected }: Row) => bad(ejected) },
    { title: 'Down', isNumber: true, cell: ({ down }: Row) => bad(down) },
  ]
  const badOf = ({ failing, ejected, down }: Row) => failing + ejected + down
  const worst = origins.toSorted((a, b) => badOf(b) - badOf(a)).slice(0, maxZones)
  const list = table('Origins by zone and state', columns, worst)
  return section('origins', 'Origins', html`${list}${moreZones(origins.length, account)}`)
}

function gatewayPart(
  store: NonNullable<Overview['store']>,
  { version, started_at, workers }: NonNullable<Overview['process']>,
  logExport: Overview['log_export'],
): Html {
  const { is_reachable, refuses_writes, is_durable, losses, size, queued_log_entries: queued } = store
  return section(
    'gateway',
    'Gateway and store',
    facts([
      ['Version', version],
      ['Started', time(started_at)],
      ['Processes', workers === 0 ? 'one for everything' : `${workers} workers`],
      [
        'Store',
        html`${store.backend === 'redis' ? 'Redis' : 'SQLite'} <code class="long">${store.location}</code>`,
      ],
      [
        'State',
        is_reachable
          ? refuses_writes === null
            ? badge('takes reads and writes', 'good')
            : html`${badge('does not confirm writes', 'bad')} ${refuses_writes}`
          : badge('unreachable', 'bad'),
      ],
      [
        'Durable',
        is_durable ? 'yes' : html`${badge('may lose writes', 'bad')} ${losses.map(loss => html`${loss} `)}`,
      ],
      ['Size', size === null ? 'unknown' : `${grouped(Math.ceil(size / 1024))} KiB`],
      ['Log queue', queued === 0 ? 'empty' : `${grouped(queued)} entries wait for the store`],
      ...(logExport === undefined ? [] : [['Log export', exportState(logExport)] as const]),
    ]),
  )
}

function exportState({ waiting, failure }: NonNullable<Overview['log_export']>): Html {
  const failing =
    failure && html`${badge('failing', 'bad')} since ${time(failure.since)}: ${failure.message} `
  if (waiting === null) return html`${failing}sent by another process on this machine`
  if (waiting.oldest_at === null) return html`${failing}nothing waits`
  const size = `${grouped(Math.ceil(waiting.bytes / 1024))} KiB`
  return html`${failing}${grouped(waiting.entries)} entries wait (${size}), the oldest since ${time(waiting.oldest_at)}`
}

function section(id: string, title: string, content: Html): Html {
  return html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`
}

function bad(count: number): HtmlValue {
  return count === 0 ? grouped(count) : badge(grouped(count), 'bad')
}

function share(count: number, all: number): string {
  if (count === 0) return '0'
  const percent = (count / all) * 100
  return `${grouped(count)} (${percent < 0.1 ? 'under 0.1' : percent.toFixed(1)} %)`
}
