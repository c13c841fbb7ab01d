// The requests of the pages of AI gateways and their logs to the management API.

import { apiPath } from '../page/api-client.ts'
import type { PageRequest } from '../page/page-request.ts'
import { paths } from '../page/paths.ts'
import type { Gateway } from './gateway.ts'

export function gatewaysOf({ account }: PageRequest): string {
  return apiPath('accounts', account.id, 'ai-gateway', 'gateways')
}

/** Returns the API path of the page's gateway, or one below it. */
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

/** Returns the pages above a page of gateways; `isBelow` for one below a gateway. */
export function crumbsOf(request: PageRequest, isBelow = false) {
  const list = { title: 'AI gateways', path: paths.gateways(request.account.id) }
  return isBelow ? [list, { title: request.params.gateway!, path: pageOf(request) }] : [list]
}
