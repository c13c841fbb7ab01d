// The rows of the admin listener about dynamic routes: method, path, permission, handler.

import { jsonBody } from '../http/request-body.ts'
import { account, type ApiRow } from '../api/api-types.ts'
import {
  createDynamicRoute,
  createRouteDeployment,
  createRouteVersion,
  deleteDynamicRoute,
  getDynamicRoute,
  getRouteVersion,
  listDynamicRoutes,
  listRouteDeployments,
  listRouteVersions,
  updateDynamicRoute,
} from './dynamic-routes.ts'

const routes = `${account}/ai-gateway/gateways/{gateway_id}/routes`
const route = `${routes}/{route_id}`
const read = { method: 'GET', permission: 'AI Gateway Read' } as const
const edit = { permission: 'AI Gateway Edit', lastingAccess: 'nothing' } as const
const write = { ...edit, body: jsonBody } as const

export const dynamicRouteRows: readonly ApiRow[] = [
  { method: 'POST', path: routes, ...write, handle: createDynamicRoute },
  { ...read, path: routes, query: ['page', 'per_page'], handle: listDynamicRoutes },
  { ...read, path: route, handle: getDynamicRoute },
  { method: 'PATCH', path: route, ...write, handle: updateDynamicRoute },
  { method: 'DELETE', path: route, ...edit, handle: deleteDynamicRoute },
  { method: 'POST', path: `${route}/versions`, ...write, handle: createRouteVersion },
  { ...read, path: `${route}/versions`, handle: listRouteVersions },
  { ...read, path: `${route}/versions/{version_id}`, handle: getRouteVersion },
  { method: 'POST', path: `${route}/deployments`, ...write, handle: createRouteDeployment },
  { ...read, path: `${route}/deployments`, handle: listRouteDeployments },
]
