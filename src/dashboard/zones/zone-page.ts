// The page of one zone: its hosts, routes and pools, and its settings in effect.

import { type Html, html } from '../../base/text/html.ts'
import { formatDuration, formatSize } from '../../base/text/quantity.ts'
import { facts, isolated } from '../../pages/parts/components.ts'
import type { PageRequest } from '../page/page-request.ts'
import { table } from '../parts/lists.ts'
import { grouped } from '../parts/numbers.ts'
import { paths } from '../page/paths.ts'
import { crumbsOf, inZone, tabsOf } from './page-data.ts'
import { badgesOf } from './list.ts'
import {
  balanceInWords,
  checkInWords,
  count,
  ejectionInWords,
  timeoutsInWords,
  type Zone,
  type ZonePool,
  type ZoneRoute,
} from './zone.ts'

export const showZone = inZone(async (request, zone) => ({
  title: zone.name,
  crumbs: crumbsOf(request),
  isWide: true,
  content: html`${tabsOf(request, zone)}
<p class="tags">${badgesOf(zone)}</p>
<p class="aside">These settings are in the configuration file. Access rules, error rules and error pages can be changed here, too.</p>
${hostsCard(zone)}${accessCard(request, zone)}${routesPart(zone)}${poolsPart(request, zone)}`,
}))

function hostsCard({ hosts, is_default }: Zone): Html {
  return html`<section class="card" aria-labelledby="hosts"><h2 id="hosts">Hosts</h2>
<ul class="plain-list">${hosts.map(host => html`<li class="long"><code>${host}</code></li>`)}</ul>${is_default && html`<p>It also serves each host that no other zone has.</p>`}</section>`
}

function accessCard({ account, may }: PageRequest, { name, access, rate_limits, quota, errors }: Zone): Html {
  const { ban } = access
  const rules = count(access.file_rules, 'rule')
  const { day, month } = quota
  return html`<section class="card" aria-labelledby="settings"><h2 id="settings">Who gets in, and how often</h2>${facts(
    [
      [
        'Access rules',
        may('Access Rules Read')
          ? html`${rules} in the file; <a href="${paths.accessRules(account.id, name)}">see all in their order</a>`
          : `${rules} in the file`,
      ],
      ['Where none matches', access.default],
      [
        'Ban',
        ban === null
          ? 'off'
          : `for ${formatDuration(ban.lasts)}, after ${count(ban.refusals, 'refusal')} within ${formatDuration(ban.within)}`,
      ],
      ['Rate limits', rate_limits.length === 0 ? 'none for all of its routes' : names(rate_limits)],
      [
        'Quota',
        [day !== null && `${grouped(day)} a day`, month !== null && `${grouped(month)} a month`]
          .filter(Boolean)
          .join(', ') || 'none',
      ],
      [
        'Errors',
        html`${count(errors.file_rules, 'rule')} and ${count(errors.file_pages.length, 'page')} in the file${may('Custom Errors Read') && html`; <a href="${paths.errorZone(account.id, name)}">see all that clients get</a>`}`,
      ],
    ],
  )}</section>`
}

function routesPart({ routes }: Zone): Html {
  return html`<h2 class="over">Routes</h2>${table('Routes, by the beginning of the path', routeColumns, routes)}`
}

const routeColumns = [
  { title: 'Path', isName: true, cell: ({ path }: ZoneRoute) => html`<code>${path}</code>` },
  {
    title: 'Leads to',
    cell: ({ pool, is_authorization_server }: ZoneRoute) =>
      is_authorization_server ? 'the authorization server' : pool === null ? 'nothing' : isolated(pool),
  },
  {
    title: 'Host for origins',
    cell: ({ host }: ZoneRoute) =>
      host === 'preserve'
        ? 'that of the request'
        : host === 'origin'
          ? 'that of the origin'
          : html`<code>${host}</code>`,
  },
  { title: 'Body', cell: ({ body_limit }: ZoneRoute) => `at most ${formatSize(body_limit)}` },
  { title: 'Timeouts', cell: timeoutsInWords },
  { title: 'Besides', cell: besides },
]

function besides({ rewrite, redirects, rate_limits: limits }: ZoneRoute): Html {
  const parts = [
    rewrite?.path != null && html`path: <code class="long">${rewrite.path}</code>`,
    (rewrite?.request_headers.length ?? 0) > 0 && html`sets ${names(rewrite!.request_headers)}`,
    (rewrite?.response_headers.length ?? 0) > 0 &&
      html`sets ${names(rewrite!.response_headers)} in responses`,
    redirects > 0 && html`follows ${count(redirects, 'redirect')}`,
    limits.length > 0 && html`limits: ${names(limits)}`,
  ].filter(part => part !== false)
  return html`<span>${parts.length === 0 ? 'nothing' : parts.map((part, i) => [i > 0 && '; ', part])}</span>`
}

function poolsPart({ account, may }: PageRequest, { name, pools }: Zone): Html | null {
  if (pools.length === 0) return null
  return html`<h2 class="over">Pools</h2>${table('Pools of origins', poolColumns, pools)}${
    may('Origins Read') &&
    html`<p class="aside"><a href="${paths.zoneOrigins(account.id, name)}">How the origins are doing</a></p>`
  }`
}

const poolColumns = [
  { title: 'Name', isName: true, cell: ({ name }: ZonePool) => isolated(name) },
  { title: 'Origins', isNumber: true, cell: ({ origins }: ZonePool) => origins },
  { title: 'Requests go', cell: balanceInWords },
  {
    title: 'Retries',
    cell: ({ retries }: ZonePool) =>
      retries.most === 0 ? 'off' : `${retries.most}, for ${Math.round(retries.budget * 100)}% of requests`,
  },
  { title: 'Ejection', cell: ejectionInWords },
  { title: 'Checks', cell: checkInWords },
  { title: 'Slow start', cell: ({ slow_start }: ZonePool) => formatDuration(slow_start) },
]

function names(all: readonly string[]): Html {
  return html`${all.map((name, i) => [i > 0 && ', ', html`<code>${name}</code>`])}`
}
