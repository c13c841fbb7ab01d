// Shows dynamic routes in the shape of their published client.

import {
  type ModelRoute,
  type RouteDeployment,
  type RouteVersion,
  versionInEffect,
} from '../../store/records/model-route.ts'
import type { ApiResponse } from '../http/envelope.ts'
import { isoTime } from '../records/record-handlers.ts'

/** A list, whose members the published client reads from `data`. */
interface ShownList {
  readonly order_by: 'created_at'
  readonly order_by_direction: 'asc' | 'desc'
  readonly page: number
  readonly per_page: number
  readonly total_count: number
}

export function viewOf(route: ModelRoute, version = versionInEffect(route)) {
  return {
    ...headOf(route),
    elements: version.elements,
    version: viewVersion(route, version),
    deployment: viewDeployment(deploymentInEffect(route)),
  }
}

export function viewOfVersion(route: ModelRoute, version: RouteVersion) {
  return { ...headOf(route), ...viewVersion(route, version), elements: version.elements }
}

export function viewVersion(route: ModelRoute, { id, elements, createdAt }: RouteVersion) {
  return {
    version_id: id,
    active: deploymentInEffect(route).version === id ? 'true' : 'false',
    is_valid: true,
    data: JSON.stringify(elements),
    created_at: isoTime(createdAt),
  }
}

export function viewDeployment({ id, version, createdAt }: RouteDeployment) {
  return { deployment_id: id, version_id: version, created_at: isoTime(createdAt) }
}

/** Responds as the published client expects it of lists and updates: with members other than `result`. */
export function respondWith(
  content: { readonly route: unknown } | { readonly data: ShownList & Readonly<Record<string, unknown>> },
): ApiResponse {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ success: true, errors: [], messages: [], ...content }),
  }
}

function headOf({ account: owner, id, name, createdAt, modifiedAt }: ModelRoute) {
  const [account, gateway] = owner.split('/')
  return {
    id,
    account_tag: account,
    gateway_id: gateway,
    name,
    created_at: isoTime(createdAt),
    modified_at: isoTime(modifiedAt),
  }
}

function deploymentInEffect({ deployments }: ModelRoute): RouteDeployment {
  return deployments.at(-1)!
}
