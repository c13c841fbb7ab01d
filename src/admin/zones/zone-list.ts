// The handlers of the configured zones, with their origins and certificates.

import { viewHostCertificate } from '../../certificates/host-certificates.ts'
import type { PoolConfig, RouteConfig, ZoneConfig } from '../../config/model/config.ts'
import type { RewriteConfig } from '../../config/model/rewrite-config.ts'
import type { Account } from '../../store/records/records.ts'
import { permits } from '../../permissions/permit.ts'
import { type ApiResponse, failures, success } from '../http/envelope.ts'
import { pageOfAll } from '../records/record-handlers.ts'
import { Parameters } from '../http/query.ts'
import type { Api, Call, ZoneCall } from '../api/api-types.ts'
import type { Zones } from '../facts/zone-facts.ts'

export const zoneParameters = ['page', 'per_page', 'direction', 'name', 'account.id'] as const

type Owned = readonly [zone: ZoneConfig, owner: Account]

export async function listZones({ caller, query }: Call, { store, zones }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  const descending = parameters.choice('direction', ['asc', 'desc']) === 'desc'
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const name = query.get('name')?.toLowerCase() ?? ''
  const account = query.get('account.id')
  const accounts = await store.accounts.list()
  const byId = new Map(accounts.map(one => [one.id, one]))
  const matches = zones.all().flatMap((zone): readonly Owned[] => {
    const owner = zone.account === null ? accounts[0] : byId.get(zone.account)
    if (owner === undefined || !permits(caller, 'Zones Read', owner.id)) return []
    if (account !== null && owner.id !== account) return []
    return zone.name.toLowerCase().includes(name) ? [[zone, owner]] : []
  })
  const sorted = matches.toSorted(([one], [other]) => (one.name < other.name ? -1 : 1))
  return pageOfAll(descending ? sorted.toReversed() : sorted, page, ([zone, owner]) =>
    viewZone(zone, owner, zones),
  )
}

export async function getZone({ zone, account }: ZoneCall, { store, zones }: Api): Promise<ApiResponse> {
  const owner = await store.accounts.get(account)
  return success(viewZone(zone, { id: account, name: owner?.name ?? '' }, zones))
}

export async function listCertificates({ zone }: ZoneCall, { zones }: Api): Promise<ApiResponse> {
  return success(zones.certificates(zone.name).map(viewHostCertificate))
}

export async function listOrigins({ zone }: ZoneCall, { zones }: Api): Promise<ApiResponse> {
  return success(await zones.origins(zone.name))
}

function viewZone(
  zone: ZoneConfig,
  { id, name }: Pick<Account, 'id' | 'name'>,
  { lists, hasGeo }: Pick<Zones, 'lists' | 'hasGeo'>,
) {
  const { access, quota, errors, rateLimits } = zone
  const pools = new Set(zone.routes.flatMap(({ pool }) => pool ?? []))
  return {
    id: zone.name,
    name: zone.name,
    account: { id, name },
    status: zone.paused ? 'paused' : 'active',
    paused: zone.paused,
    hosts: zone.hosts,
    is_default: zone.isDefault,
    routes: zone.routes.map(viewRoute),
    pools: [...pools].map(viewPool),
    access: {
      file_rules: access.rules.length,
      default: access.otherwise,
      ban: access.ban,
      lists: lists(),
      has_geo: hasGeo(),
    },
    rate_limits: rateLimits.map(({ name }) => name),
    quota,
    errors: { file_rules: errors.rules.length, file_pages: Object.keys(errors.pages) },
  }
}

function viewRoute({ path, pool, host, bodyLimit, redirects, timeouts, rewrite, ...route }: RouteConfig) {
  return {
    path,
    pool: pool?.name ?? null,
    is_authorization_server: route.own === 'issuer',
    host: typeof host === 'string' ? host : host.name,
    body_limit: bodyLimit,
    redirects,
    timeouts,
    rate_limits: route.rateLimits.map(({ name }) => name),
    rewrite: rewrite && viewRewrite(rewrite),
  }
}

/** Shows which headers are rewritten, not to what: that may be a secret of the origin. */
function viewRewrite({ path, requestHeaders, responseHeaders }: RewriteConfig) {
  const namesOf = (headers: RewriteConfig['requestHeaders']) => headers.map(({ name }) => name)
  return { path, request_headers: namesOf(requestHeaders), response_headers: namesOf(responseHeaders) }
}

function viewPool({ name, origins, balance, retries, ejection, check, slowStart }: PoolConfig) {
  return {
    name,
    origins: origins.length,
    balance: balance.by,
    balance_header: balance.by === 'hash' ? balance.header : null,
    retries,
    ejection,
    check,
    slow_start: slowStart,
  }
}
