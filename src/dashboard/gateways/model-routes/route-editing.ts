// Creation of a dynamic route, and changes, each of which makes a version.

import type { Failure } from '../../page/api-client.ts'
import type { Handler, PageRequest, View } from '../../page/page-request.ts'
import { redirectWith } from '../../page/flash-messages.ts'
import { paths } from '../../page/paths.ts'
import { Draft, etagField } from '../../parts/draft.ts'
import { checkbox } from '../../parts/fields.ts'
import { draftForm } from '../../parts/forms.ts'
import { html } from '../../../base/text/html.ts'
import { findGateway, gatewayOf } from '../page-data.ts'
import { type DynamicRoute, routeInBrief } from './model-route.ts'
import { crumbsOfRoutes, findRoute, listOf, routeOf, routePageOf } from './route-data.ts'
import { elementsOf, newValues, refusedRoute, routeFields, routeLabels, valuesOfRoute } from './route-form.ts'

export const showNewRoute: Handler = async request => newRoute(request, new Draft(newValues))

export const createRoute: Handler = async request => {
  const draft = Draft.of(request.form)
  const read = elementsOf(draft)
  if ('draft' in read) return newRoute(request, read.draft)
  const body = { name: nameOf(draft), elements: read.elements }
  const created = await request.api.post<DynamicRoute>(gatewayOf(request, 'routes'), body)
  if (!created.ok) return newRoute(request, refusedRoute(draft, created))
  const { account, params } = request
  return redirectWith(paths.modelRoute(account.id, params.gateway!, created.result.id), 'route-created')
}

export const showRouteForm: Handler = async request => {
  const { result: route } = await findRoute(request)
  const values = valuesOfRoute(route.name, route.elements)
  const draft = new Draft({ ...values, deploy: 'on', [etagField]: route.version.version_id })
  return editRoute(request, route, draft)
}

export const changeRoute: Handler = async request => {
  const { result: route } = await findRoute(request)
  const draft = Draft.of(request.form)
  const read = elementsOf(draft)
  if ('draft' in read) return editRoute(request, route, read.draft)
  if (draft.etag !== route.version.version_id)
    return editRoute(request, route, draft.overtaken(shownOf(route), route.version.version_id))
  const failure = await save(request, route, draft, read.elements)
  if (failure === null) return redirectWith(routePageOf(request), 'route-saved')
  return failure.status === 404 ? failure : editRoute(request, route, refusedRoute(draft, failure))
}

/** Returns the current values in words: those of the fields may be of the other kind, or long. */
function shownOf({ name, elements }: DynamicRoute) {
  return { name, kind: routeInBrief(elements) }
}

/** The version comes first: until it is deployed, nothing has changed for calls. */
async function save(
  { api, ...request }: PageRequest,
  route: DynamicRoute,
  draft: Draft,
  elements: unknown,
): Promise<Failure | null> {
  const path = (...below: readonly string[]) => routeOf({ api, ...request }, ...below)
  const version = await api.post<DynamicRoute>(path('versions'), { elements })
  if (!version.ok) return version
  const name = nameOf(draft)
  const renamed = name === route.name ? null : await api.patch(path(), { name })
  if (renamed?.ok === false) return renamed
  if (!draft.has('deploy')) return null
  const { version_id } = version.result.version
  const deployed = await api.post(path('deployments'), { version_id })
  return deployed.ok ? null : deployed
}

function nameOf(draft: Draft): string {
  return draft.value('name').trim()
}

async function newRoute(request: PageRequest, draft: Draft): Promise<View> {
  await findGateway(request)
  return {
    title: 'Create a route',
    crumbs: crumbsOfRoutes(request),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels: routeLabels,
        send: 'Create the route',
        cancel: listOf(request),
      },
      routeFields(draft),
    ),
  }
}

function editRoute(request: PageRequest, route: DynamicRoute, draft: Draft): View {
  return {
    title: 'Edit the route',
    crumbs: crumbsOfRoutes(request, route),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels: { ...routeLabels, deploy: 'Deploy it' },
        send: 'Save as a version',
        cancel: routePageOf(request),
      },
      html`${routeFields(draft)}${checkbox(draft, {
        name: 'deploy',
        label: 'Deploy it',
        hint: 'Without this, the version is saved, and calls go on as before.',
      })}`,
    ),
  }
}
