// One dynamic route: its steps in words, its versions, and its actions.

import { type Html, html } from '../../../base/text/html.ts'
import { facts, isolated } from '../../../pages/parts/components.ts'
import type { RouteElement } from '../../../store/records/model-route.ts'
import type { Handler, PageRequest } from '../../page/page-request.ts'
import { paths, withQuery } from '../../page/paths.ts'
import { dangerZone } from '../../parts/forms.ts'
import { badge, cutPage, pager, table } from '../../parts/lists.ts'
import { time } from '../../parts/values.ts'
import {
  type DynamicRoute,
  elementInWords,
  outputInWords,
  outputsOf,
  type RouteVersion,
  routeInBrief,
} from './model-route.ts'
import { crumbsOfRoutes, findRoute, routeOf, routePageOf } from './route-data.ts'
import { shortId } from './route-list.ts'

export const showRoute: Handler = async request => {
  const [{ result: route }, versions] = await Promise.all([
    findRoute(request),
    request.api.get<{ readonly versions: readonly RouteVersion[] }>(routeOf(request, 'versions')),
  ])
  const { account, params } = request
  const mayEdit = request.may('AI Gateway Edit')
  const dangers = [
    {
      title: 'Delete',
      text: 'Calls that name it are refused from then on.',
      path: paths.deleteModelRoute(account.id, params.gateway!, route.id),
      link: 'Delete…',
    },
  ]
  return {
    title: route.name,
    crumbs: crumbsOfRoutes(request),
    isWide: true,
    ...(mayEdit && {
      actions: html`<a class="button" href="${paths.editModelRoute(account.id, params.gateway!, route.id)}">Edit</a>`,
    }),
    content: html`${summaryCard(request, route)}${stepsTable(route.elements)}${versionsPart(request, versions.result.versions, mayEdit)}${dangerZone(mayEdit ? dangers : [])}`,
  }
}

function summaryCard(
  { account, may }: PageRequest,
  { id, name, version, deployment, ...route }: DynamicRoute,
) {
  const audit = withQuery(paths.audit(account.id), { type: 'dynamic_route', resource: id })
  return html`<section class="card" aria-labelledby="summary"><h2 id="summary">In effect</h2>${facts([
    ['Callers send', html`<code class="long">dynamic/${name}</code>`],
    ['Leads to', html`<span class="long">${routeInBrief(route.elements)}</span>`],
    ['Version', html`<code>${shortId(version.version_id)}</code>`],
    ['Deployed', time(deployment.created_at)],
    ['Created', time(route.created_at)],
    ['Changed by', may('Audit Logs Read') ? html`<a href="${audit}">see the audit log</a>` : null],
  ])}</section>`
}

/** Makes the table of the elements of a version in the order in which calls come to them. */
export function stepsTable(elements: readonly RouteElement[]): Html {
  const byId = new Map(elements.map(element => [element.id, element]))
  const columns = [
    { title: 'Step', isName: true, cell: ({ id }: RouteElement) => isolated(id) },
    {
      title: 'Does',
      cell: (element: RouteElement) => html`<span class="long">${elementInWords(element)}</span>`,
    },
    {
      title: 'Then',
      cell: (element: RouteElement) =>
        html`<span class="long">${outputsOf(element)
          .filter(([name]) => element.type !== 'model' || name !== 'success')
          .map(([name, next], i) => [
            i > 0 && '; ',
            wordsOf(element, name),
            nextOf(element, byId.get(next)!),
          ])}</span>`,
    },
  ]
  const visible = ordered(elements, byId).filter(({ type }) => type !== 'end')
  return html`<h2 class="over">Steps</h2>${table('Steps of a call', columns, visible)}`
}

function wordsOf(element: RouteElement, name: string): string {
  const words = outputInWords(element, name)
  return words === '' ? '' : `${words}: `
}

function nextOf({ type }: RouteElement, next: RouteElement): Html {
  if (next.type !== 'end') return isolated(next.id)
  return html`${type === 'rate' ? 'refused with 429' : 'the call fails'}`
}

function ordered(
  elements: readonly RouteElement[],
  byId: ReadonlyMap<string, RouteElement>,
): readonly RouteElement[] {
  const visited = new Set<RouteElement>(elements.filter(({ type }) => type === 'start'))
  for (const element of visited) for (const [, next] of outputsOf(element)) visited.add(byId.get(next)!)
  return [...visited]
}

function versionsPart(request: PageRequest, versions: readonly RouteVersion[], mayEdit: boolean): Html {
  const { account, params } = request
  const active = versions.findIndex(({ active }) => active === 'true')
  const { items, info } = cutPage(versions, request.query)
  const path = ({ version_id }: RouteVersion) =>
    paths.deployModelRoute(account.id, params.gateway!, params.modelroute!, version_id)
  const control = (version: RouteVersion) =>
    version.active === 'true'
      ? ''
      : html`<a class="button plain small" href="${path(version)}" aria-label="${versions.indexOf(version) > active ? 'Roll back to' : 'Deploy'} ${shortId(version.version_id)}">${versions.indexOf(version) > active ? 'Roll back…' : 'Deploy…'}</a>`
  const columns = [
    {
      title: 'Version',
      isName: true,
      cell: (version: RouteVersion) =>
        html`<code>${shortId(version.version_id)}</code>${version.active === 'true' && html` ${badge('in effect', 'good')}`}`,
    },
    {
      title: 'Leads to',
      cell: ({ data }: RouteVersion) =>
        html`<span class="long">${routeInBrief(JSON.parse(data) as RouteElement[])}</span>`,
    },
    { title: 'Saved', cell: ({ created_at }: RouteVersion) => time(created_at) },
    ...(mayEdit ? [{ title: 'Change', cell: control }] : []),
  ]
  return html`<h2 class="over">Versions</h2>${table('Versions, newest first', columns, items)}${pager(routePageOf(request), request.query, info)}`
}
