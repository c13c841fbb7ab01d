// What the pages of AI gateways and of their logs ask the management API for.

import { apiPath } from '../page/api-client.ts'
import type { Ask } from '../page/page-request.ts'
import { paths } from '../page/paths.ts'
import type { Gateway } from './gateway.ts'

export function gatewaysOf({ account }: Ask): string {
  return apiPath('accounts', account.id, 'ai-gateway', 'gateways')
}

/** Returns where the API has the gateway of the page, or what is below it. */
export function gatewayOf(ask: Ask, ...below: readonly string[]): string {
  return gatewaysOf(ask) + apiPath(ask.params.gateway!, ...below)
}

export function findGateway(ask: Ask) {
  return ask.api.get<Gateway>(gatewayOf(ask))
}

/** Returns the page of the gateway. */
export function pageOf({ account, params }: Ask): string {
  return paths.gateway(account.id, params.gateway!)
}

/** Returns what is above a page of gateways; `isBelow` for one that is below a gateway. */
export function crumbsOf(ask: Ask, isBelow = false) {
  const list = { title: 'AI gateways', path: paths.gateways(ask.account.id) }
  return isBelow ? [list, { title: ask.params.gateway!, path: pageOf(ask) }] : [list]
}
