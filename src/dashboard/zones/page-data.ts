// The requests of the pages of zones to the management API, and their common headings.

import { type Html, html } from '../../base/text/html.ts'
import type { PageResponse } from '../../pages/parts/layout.ts'
import { apiPath, type Failure, missing } from '../page/api-client.ts'
import type { PageRequest, Handler, View } from '../page/page-request.ts'
import { paths } from '../page/paths.ts'
import type { Zone } from './zone.ts'

type Made = View | PageResponse | Failure

/**
 * Makes a handler that receives the zone of the path: only one of the account of the path, whatever else the
 * person may see.
 */
export function inZone(handle: (request: PageRequest, zone: Zone) => Promise<Made>): Handler {
  return async request => {
    const response = await request.api.tryGet<Zone>(zoneOf(request))
    if (!response.ok) return response.status === 403 ? missing() : response
    return response.result.account.id === request.account.id ? handle(request, response.result) : missing()
  }
}

/** Returns the API path of the page's zone, or one below it. */
export function zoneOf({ params }: PageRequest, ...below: readonly string[]): string {
  return apiPath('zones', params.zone!, ...below)
}

/** Returns the pages above one below that of the zone. */
export function crumbsOf({ account }: PageRequest, zone: Zone | null = null) {
  const list = { title: 'Zones', path: paths.zones(account.id) }
  return zone === null ? [list] : [list, { title: zone.name, path: paths.zone(account.id, zone.name) }]
}

const tabs = [
  { title: 'Settings', path: paths.zone, permission: 'Zones Read' },
  { title: 'Access rules', path: paths.accessRules, permission: 'Access Rules Read' },
  { title: 'Limits', path: paths.zoneLimits, permission: 'Zones Read' },
  { title: 'MCP servers', path: paths.zoneMcp, permission: 'Zones Read' },
  { title: 'Origins', path: paths.zoneOrigins, permission: 'Origins Read' },
  { title: 'Certificates', path: paths.zoneCertificates, permission: 'Zones Read' },
  { title: 'Explain a request', path: paths.explain, permission: 'Access Rules Read' },
] as const

/** Makes the links between the pages of a zone. */
export function tabsOf(request: PageRequest, { name }: Zone): Html {
  const { account, path: here } = request
  return html`<nav class="tabs" aria-label="Pages of the zone"><ul>${tabs
    .filter(({ permission }) => request.may(permission))
    .map(({ title, path }) => {
      const link = path(account.id, name)
      return html`<li><a href="${link}"${link === here && html` aria-current="page"`}>${title}</a></li>`
    })}</ul></nav>`
}
