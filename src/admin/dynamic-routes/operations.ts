// The operations of dynamic routes, for the document of the API.

import { pageQuery } from '../schema/query-schemas.ts'
import { json, type Operation, refusal } from '../schema/operation.ts'
import { named, success } from '../schema/schema.ts'
import {
  changedRoute,
  dataOf,
  newDeployment,
  newRoute,
  newVersion,
  responseWith,
  versionOfRoute,
} from './schemas.ts'

const tag = 'Dynamic routes'
const routes = '/client/v4/accounts/{account_id}/ai-gateway/gateways/{gateway_id}/routes'
const route = `${routes}/{route_id}`
const aRoute = json(success(named('DynamicRoute')))

const model = (id: string, provider: string, model: string, fallback: string) => ({
  id,
  type: 'model',
  properties: { provider, model, timeout: 20_000, retries: 1 },
  outputs: { success: { elementId: 'end' }, fallback: { elementId: fallback } },
})
const start = { id: 'start', type: 'start', outputs: { next: { elementId: 'plan' } } }
const end = { id: 'end', type: 'end', outputs: {} }
const models = [
  model('big', 'anthropic', 'claude-sonnet-5', 'small'),
  model('small', 'openai', 'gpt-4o-mini', 'end'),
]

const byPlan = [
  start,
  {
    id: 'plan',
    type: 'conditional',
    properties: { conditions: { 'metadata.plan': { $in: ['pro', 'team'] } } },
    outputs: { true: { elementId: 'big' }, false: { elementId: 'small' } },
  },
  ...models,
  end,
]

const byShare = [
  start,
  {
    id: 'plan',
    type: 'percentage',
    outputs: { '10%': { elementId: 'big' }, else: { elementId: 'small' } },
  },
  ...models,
  end,
]

const byCost = [
  start,
  {
    id: 'plan',
    type: 'rate',
    properties: { key: 'token', limit: 2.5, limitType: 'cost', window: 86_400 },
    outputs: { success: { elementId: 'big' }, fallback: { elementId: 'small' } },
  },
  ...models,
  end,
]

const byRate = [
  start,
  {
    id: 'plan',
    type: 'rate',
    properties: { key: 'token', limit: 100, limitType: 'count', window: 60 },
    outputs: { success: { elementId: 'big' }, fallback: { elementId: 'small' } },
  },
  ...models,
  end,
]

export const dynamicRouteOperations: Readonly<Record<string, Operation>> = {
  [`POST ${routes}`]: {
    id: 'createDynamicRoute',
    tag,
    summary: 'Create a dynamic route, and deploy it',
    description:
      'A gateway has at most 100. Elements are checked as a whole: they begin at one `start`, end at an `end`, and have neither loops nor dead ends.',
    body: {
      schema: newRoute,
      examples: { 'By the plan of a customer': { name: 'support', elements: byPlan } },
    },
    response: aRoute,
    refusals: [refusal('dynamic_route_taken'), refusal('too_many_dynamic_routes')],
  },
  [`GET ${routes}`]: {
    id: 'listDynamicRoutes',
    tag,
    summary: 'List dynamic routes',
    query: { page: pageQuery.page!, per_page: pageQuery.per_page! },
    response: json(responseWith({ data: dataOf('routes', named('DynamicRoute')) })),
  },
  [`GET ${route}`]: {
    id: 'getDynamicRoute',
    tag,
    summary: 'Show a dynamic route, with the version to which calls go',
    response: aRoute,
  },
  [`PATCH ${route}`]: {
    id: 'updateDynamicRoute',
    tag,
    summary: 'Rename a dynamic route',
    description: 'To change where calls go, create a version and deploy it.',
    body: { schema: changedRoute, examples: { 'Another name': { name: 'support-2' } } },
    response: json(responseWith({ route: named('DynamicRoute') })),
    refusals: [refusal('dynamic_route_taken')],
  },
  [`DELETE ${route}`]: {
    id: 'deleteDynamicRoute',
    tag,
    summary: 'Delete a dynamic route with its versions',
    response: aRoute,
  },
  [`POST ${route}/versions`]: {
    id: 'createRouteVersion',
    tag,
    summary: 'Create a version of a dynamic route',
    description:
      'It takes no calls until it is deployed. The oldest versions go once there are more than 100, or all of them have more than 512 KiB, except for the one in effect.',
    body: {
      schema: newVersion,
      examples: {
        'A tenth of all calls to another model': { elements: byShare },
        'The first 100 calls of a token in a minute': { elements: byRate },
        'The first 2.50 USD of a token in a day': { elements: byCost },
      },
    },
    response: aRoute,
  },
  [`GET ${route}/versions`]: {
    id: 'listRouteVersions',
    tag,
    summary: 'List the versions of a dynamic route, newest first',
    response: json(responseWith({ data: dataOf('versions', named('RouteVersion')) })),
  },
  [`GET ${route}/versions/{version_id}`]: {
    id: 'getRouteVersion',
    tag,
    summary: 'Show a version of a dynamic route',
    response: json(success(versionOfRoute)),
  },
  [`POST ${route}/deployments`]: {
    id: 'createRouteDeployment',
    tag,
    summary: 'Deploy a version of a dynamic route',
    description: 'Calls go to it within a second, on all machines. Deploy an earlier version to roll back.',
    body: {
      schema: newDeployment,
      examples: { 'Some version': { version_id: '0f1e2d3c4b5a69788796a5b4c3d2e1f0' } },
    },
    response: aRoute,
  },
  [`GET ${route}/deployments`]: {
    id: 'listRouteDeployments',
    tag,
    summary: 'List the deployments of a dynamic route, newest first: the last 100',
    response: json(responseWith({ data: dataOf('deployments', named('RouteDeployment')) })),
  },
}
