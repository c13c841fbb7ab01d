// Handlers of the dynamic routes of AI gateways.

import { newId } from '../../base/ids/id.ts'
import { auditOf, type Resource } from '../../store/records/audit-entry.ts'
import {
  type ModelRoute,
  type RouteElement,
  routeOwner,
  versionInEffect,
} from '../../store/records/model-route.ts'
import type { Api, Call } from '../api/api-types.ts'
import { findGateway, noGateway } from '../gateways/gateways.ts'
import { type ApiResponse, failure, failures, success } from '../http/envelope.ts'
import { Parameters } from '../http/query.ts'
import { membersSet, updateOf } from '../records/audit.ts'
import { add, cutOf, drop, put, type Revised, revise } from '../records/record-handlers.ts'
import { readDeployment, readNewRoute, readNewVersion, readRename } from './body.ts'
import { respondWith, viewDeployment, viewOf, viewOfVersion, viewVersion } from './view.ts'

const maxRoutes = 100
/** Above the number that an account may add. */
const maxOwnProviders = 100
const maxVersions = 100
const maxDeployments = 100
/** Characters of JSON of all versions of a route, which are one record. */
const maxLength = 512 * 1024

export async function createDynamicRoute(call: Call, { store, providers, log }: Api): Promise<ApiResponse> {
  const gateway = await findGateway(store, call.account, call.params.gateway_id!)
  if (gateway === null) return noGateway
  const read = readNewRoute(call.body, await modelsOf(call, { store, providers }))
  if (!('name' in read)) return failures(read)
  const owner = routeOwner(gateway)
  const { total } = await store.modelRoutes.list(owner, { offset: 0, limit: 1 })
  if (total >= maxRoutes) return failure('too_many_dynamic_routes', maxRoutes)
  const version = newVersion(read.elements, call.now)
  const route: ModelRoute = {
    account: owner,
    id: newId(),
    name: read.name,
    versions: [version],
    deployments: [{ id: newId(), version: version.id, createdAt: call.now }],
    createdAt: call.now,
    modifiedAt: call.now,
  }
  const audit = auditOf(call, 'create', resourceOf(route), membersSet(call.body))
  if (await add(store.modelRoutes, route, { audit }, log)) return success(viewOf(route))
  return (await store.modelRoutes.find(owner, read.name)) === null ? noGateway : taken
}

export async function listDynamicRoutes(
  { account, params, query }: Call,
  { store }: Api,
): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const { items, total } = await store.modelRoutes.list(routeOwner(gateway), {
    ...cutOf(page),
    limit: page.perPage,
  })
  return respondWith({
    data: {
      order_by: 'created_at',
      order_by_direction: 'asc',
      page: page.page,
      per_page: page.perPage,
      total_count: total,
      routes: items.map(route => viewOf(route)),
    },
  })
}

export async function getDynamicRoute(call: Call, { store }: Api): Promise<ApiResponse> {
  const route = await findRoute(call, store)
  return route === null ? noRoute : success(viewOf(route))
}

/** Changes the name: all else is the matter of versions. */
export async function updateDynamicRoute(call: Call, { store, log }: Api): Promise<ApiResponse> {
  const read = readRename(call.body)
  if (!('name' in read)) return failures(read)
  const { name } = read
  for (;;) {
    const current = await findVersioned(call, store)
    if (current === null) return noRoute
    const { record: route, version } = current
    const other = await store.modelRoutes.find(route.account, name)
    if (other !== null && other.record.id !== route.id) return taken
    const renamed = { ...route, name, modifiedAt: call.now }
    const audit = updateOf(call, resourceOf(route), { name: route.name }, { name })
    if (await put(store.modelRoutes, renamed, version, { audit }, log))
      return respondWith({ route: viewOf(renamed) })
  }
}

export async function deleteDynamicRoute(call: Call, { store, log }: Api): Promise<ApiResponse> {
  const route = await findRoute(call, store)
  if (route === null) return noRoute
  const audit = auditOf(call, 'delete', resourceOf(route))
  const isDropped = await drop(store.modelRoutes, audit, log, undefined, route.account)
  return isDropped ? success(viewOf(route)) : noRoute
}

/** Adds a version, which takes no calls until it is deployed. */
export async function createRouteVersion(call: Call, { store, providers, log }: Api): Promise<ApiResponse> {
  const read = readNewVersion(call.body, await modelsOf(call, { store, providers }))
  if (!('elements' in read)) return failures(read)
  const version = newVersion(read.elements, call.now)
  const revised = await reviseRoute(call, { store, log }, route => {
    const changed = { ...route, versions: [...route.versions, version], modifiedAt: call.now }
    const audit = auditOf(call, 'update', resourceOf(route), ['elements'])
    return { record: trimmed(changed, version.id), audit }
  })
  return 'record' in revised ? success(viewOf(revised.record, version)) : revised
}

export async function getRouteVersion(call: Call, { store }: Api): Promise<ApiResponse> {
  const route = await findRoute(call, store)
  if (route === null) return noRoute
  const version = route.versions.find(({ id }) => id === call.params.version_id)
  return version === undefined ? noVersion : success(viewOfVersion(route, version))
}

export async function listRouteVersions(call: Call, { store }: Api): Promise<ApiResponse> {
  const route = await findRoute(call, store)
  if (route === null) return noRoute
  const versions = route.versions.toReversed().map(version => viewVersion(route, version))
  return respondWith({ data: { ...newestFirst(versions.length), versions } })
}

/** Sends calls to a version from now on; to an older one, to roll back. */
export async function createRouteDeployment(call: Call, { store, log }: Api): Promise<ApiResponse> {
  const read = readDeployment(call.body)
  if (!('version' in read)) return failures(read)
  const deployment = { id: newId(), version: read.version, createdAt: call.now }
  const revised = await reviseRoute(call, { store, log }, route => {
    if (!route.versions.some(({ id }) => id === read.version)) return noVersion
    const deployments = [...route.deployments, deployment].slice(-maxDeployments)
    const audit = auditOf(call, 'deploy', resourceOf(route), ['version_id'], {
      before: { version_id: versionInEffect(route).id },
      after: { version_id: read.version },
    })
    return { record: { ...route, deployments, modifiedAt: call.now }, audit }
  })
  return 'record' in revised ? success(viewOf(revised.record)) : revised
}

export async function listRouteDeployments(call: Call, { store }: Api): Promise<ApiResponse> {
  const route = await findRoute(call, store)
  if (route === null) return noRoute
  const deployments = route.deployments.toReversed().map(viewDeployment)
  return respondWith({ data: { ...newestFirst(deployments.length), deployments } })
}

const noRoute = failure('no_such', 'Dynamic route')
const noVersion = failure('no_such', 'Version')
const taken = failure('dynamic_route_taken')

/** Describes a list that is whole. */
function newestFirst(length: number) {
  const order = { order_by: 'created_at', order_by_direction: 'desc' } as const
  return { ...order, page: 1, per_page: Math.max(1, length), total_count: length }
}

async function findRoute(call: Call, store: Api['store']): Promise<ModelRoute | null> {
  return (await findVersioned(call, store))?.record ?? null
}

async function findVersioned({ account, params }: Call, store: Api['store']) {
  const gateway = await findGateway(store, account, params.gateway_id!)
  return gateway === null ? null : store.modelRoutes.get(routeOwner(gateway), params.route_id!)
}

async function reviseRoute(
  call: Call,
  { store, log }: Pick<Api, 'store' | 'log'>,
  change: (route: ModelRoute) => Revised<ModelRoute>,
): Promise<Revised<ModelRoute>> {
  const route = await findRoute(call, store)
  if (route === null) return noRoute
  return (await revise(store.modelRoutes, route.account, route.id, change, log)) ?? noRoute
}

function newVersion(elements: readonly RouteElement[], now: number) {
  return { id: newId(), elements, createdAt: now }
}

/** Removes the oldest versions beyond the bounds, but neither the one in effect nor the latest. */
function trimmed(route: ModelRoute, latest: string): ModelRoute {
  const inEffect = versionInEffect(route).id
  let { versions } = route
  while (versions.length > maxVersions || JSON.stringify(versions).length > maxLength) {
    const oldest = versions.find(({ id }) => id !== inEffect && id !== latest)
    if (oldest === undefined) break
    versions = versions.filter(version => version !== oldest)
  }
  return { ...route, versions }
}

function resourceOf({ id, name }: ModelRoute): Resource {
  return { resourceKind: 'dynamic_route', resource: id, resourceName: name }
}

/** Returns whether calls of the account may name a model: its own providers count, on or off. */
async function modelsOf(
  { account }: Call,
  { store, providers }: Pick<Api, 'store' | 'providers'>,
): Promise<(name: string) => boolean> {
  const { items } = await store.customProviders.list(account, { offset: 0, limit: maxOwnProviders })
  const prefixes = items.map(({ id }) => `custom-${id}/`)
  const isOwn = (name: string) =>
    prefixes.some(prefix => name.startsWith(prefix) && name.length > prefix.length)
  return name => providers.hasModel(name) || isOwn(name)
}
