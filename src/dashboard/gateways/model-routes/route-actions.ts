// Deployment of a version of a dynamic route, and deletion of a route.

import { html } from '../../../base/text/html.ts'
import { isolated } from '../../../pages/parts/components.ts'
import type { RouteElement } from '../../../store/records/model-route.ts'
import type { Handler, PageRequest } from '../../page/page-request.ts'
import { redirectWith } from '../../page/flash-messages.ts'
import { Draft, etagField } from '../../parts/draft.ts'
import { confirmation, confirmationPage } from '../../parts/forms.ts'
import { time } from '../../parts/values.ts'
import { type RouteVersion, routeInBrief } from './model-route.ts'
import { crumbsOfRoutes, findRoute, listOf, routeOf, routePageOf } from './route-data.ts'
import { shortId } from './route-list.ts'
import { stepsTable } from './route-page.ts'

export const confirmDeployment: Handler = request => deployment(request, new Draft())

export const deployVersion: Handler = async request => {
  const draft = Draft.of(request.form)
  const { result: route } = await findRoute(request)
  // What was confirmed is the way from that version to this one.
  if (draft.etag !== route.version.version_id) return deployment(request, draft.overtaken({}, null))
  const deployed = await request.api.post(routeOf(request, 'deployments'), {
    version_id: request.params.version!,
  })
  return deployed.ok ? redirectWith(routePageOf(request), 'route-deployed') : deployed
}

async function deployment(request: PageRequest, draft: Draft) {
  const [{ result: route }, { result: version }] = await Promise.all([
    findRoute(request),
    request.api.get<RouteVersion & { readonly elements: readonly RouteElement[] }>(
      routeOf(request, 'versions', request.params.version!),
    ),
  ])
  return {
    title: 'Deploy this version?',
    crumbs: crumbsOfRoutes(request, route),
    isWide: true,
    status: draft.status,
    content: html`${confirmation({
      frame: request.frameFor(request.path),
      draft: draft.with({ [etagField]: route.version.version_id }),
      what: html`<p>Calls to <b>dynamic/${isolated(route.name)}</b> go to version <code>${shortId(version.version_id)}</code> of ${time(version.created_at)} within a second: <span class="long">${routeInBrief(version.elements)}</span></p><p>Now they go to version <code>${shortId(route.version.version_id)}</code>: <span class="long">${routeInBrief(route.elements)}</span></p>`,
      send: 'Deploy this version',
      cancel: routePageOf(request),
    })}${stepsTable(version.elements)}`,
  }
}

export const confirmRouteDeletion: Handler = async request => {
  const { result: route } = await findRoute(request)
  return confirmationPage({
    title: 'Delete this route?',
    crumbs: crumbsOfRoutes(request, route),
    frame: request.frameFor(request.path),
    what: html`<p>Calls to <b>dynamic/${isolated(route.name)}</b> are refused within a second, and its versions are deleted. This cannot be undone.</p>`,
    send: 'Delete the route',
    cancel: routePageOf(request),
  })
}

export const deleteRoute: Handler = async request => {
  const deleted = await request.api.delete(routeOf(request))
  return deleted.ok ? redirectWith(listOf(request), 'route-deleted') : deleted
}
