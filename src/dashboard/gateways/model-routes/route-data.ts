// The requests of the pages of dynamic routes to the management API.

import type { PageRequest } from '../../page/page-request.ts'
import { paths } from '../../page/paths.ts'
import { crumbsOf, gatewayOf } from '../page-data.ts'
import type { DynamicRoute } from './model-route.ts'

/** Returns the API path of the page's route, or one below it. */
export function routeOf(request: PageRequest, ...below: readonly string[]): string {
  return gatewayOf(request, 'routes', request.params.modelroute!, ...below)
}

export function findRoute(request: PageRequest) {
  return request.api.get<DynamicRoute>(routeOf(request))
}

export function listOf({ account, params }: PageRequest): string {
  return paths.modelRoutes(account.id, params.gateway!)
}

/** Returns the page of the route. */
export function routePageOf({ account, params }: PageRequest): string {
  return paths.modelRoute(account.id, params.gateway!, params.modelroute!)
}

/** Returns the pages above one of routes; `route` for one below its page. */
export function crumbsOfRoutes(request: PageRequest, route: DynamicRoute | null = null) {
  const list = [...crumbsOf(request, true), { title: 'Routes', path: listOf(request) }]
  return route === null ? list : [...list, { title: route.name, path: routePageOf(request) }]
}
