// What the pages of AI gateways and of their logs ask the management API for.

import { apiPath } from '../page/api-client.ts'
import type { PageRequest } from '../page/page-request.ts'
import { paths } from '../page/paths.ts'
import type { Gateway } from './gateway.ts'

export function gatewaysOf({ account }: PageRequest): string {
  return apiPath('accounts', account.id, 'ai-gateway', 'gateways')
}

/** Returns where the API has the gateway of the page, or what is below it. */
export function gatewayOf(request: PageRequest, ...below: readonly string[]): string {
  return gatewaysOf(request) + apiPath(request.params.gateway!, ...below)
}

export function findGateway(request: PageRequest) {
  return request.api.get<Gateway>(gatewayOf(request))
}

/** Returns the page of the gateway. */
export function pageOf({ account, params }: PageRequest): string {
  return paths.gateway(account.id, params.gateway!)
}

/** Returns what is above a page of gateways; `isBelow` for one that is below a gateway. */
export function crumbsOf(request: PageRequest, isBelow = false) {
  const list = { title: 'AI gateways', path: paths.gateways(request.account.id) }
  return isBelow ? [list, { title: request.params.gateway!, path: pageOf(request) }] : [list]
}
