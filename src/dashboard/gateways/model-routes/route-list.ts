// The dynamic routes of a gateway, and the aliases of the configuration beside them.

import { type Html, html } from '../../../base/text/html.ts'
import { isolated } from '../../../pages/parts/components.ts'
import type { Handler, PageRequest } from '../../page/page-request.ts'
import type { ModelAlias } from '../../page/gateway-endpoint.ts'
import { paths } from '../../page/paths.ts'
import { emptyState, pager, table } from '../../parts/lists.ts'
import { nextStep, stepLink } from '../../parts/next-step.ts'
import { brief, oneLine, time } from '../../parts/values.ts'
import { crumbsOf, gatewayOf } from '../page-data.ts'
import { type DynamicRoute, routeInBrief } from './model-route.ts'
import { listOf } from './route-data.ts'

interface RouteList {
  readonly page: number
  readonly per_page: number
  readonly total_count: number
  readonly routes: readonly DynamicRoute[]
}

export const showRoutes: Handler = async request => {
  const { account, params, query } = request
  const response = await request.api.get<RouteList>(gatewayOf(request, 'routes'), { page: query.get('page') })
  const { routes, ...info } = response.result
  const create = stepLink(paths.newModelRoute(account.id, params.gateway!), 'Create a route')
  const isEmpty = info.total_count === 0
  const guide = html`<a href="${paths.guide(account.id, 'failover')}#dynamic-routes">Dynamic routes</a>`
  const whatFor = html`A route is a name that callers send in place of a model, as <code>dynamic/NAME</code>: it says which models are tried, and in which order. It changes within a second, and can be rolled back; ${guide} has the details.`
  const columns = [
    {
      title: 'Name',
      isName: true,
      cell: ({ id, name }: DynamicRoute) =>
        html`<a href="${paths.modelRoute(account.id, params.gateway!, id)}">${isolated(name)}</a>`,
    },
    {
      title: 'Leads to',
      cell: ({ elements }: DynamicRoute) => html`<span class="long">${routeInBrief(elements)}</span>`,
    },
    {
      title: 'Version',
      cell: ({ version }: DynamicRoute) => html`<code>${oneLine(shortId(version.version_id))}</code>`,
    },
    { title: 'Deployed', cell: ({ deployment }: DynamicRoute) => time(deployment.created_at) },
  ]
  return {
    title: 'Routes',
    crumbs: crumbsOf(request, true),
    isWide: true,
    ...(!isEmpty && request.may('AI Gateway Edit') && { actions: create }),
    content: html`${
      isEmpty
        ? emptyState('No routes yet', whatFor, nextStep(request, 'AI Gateway Edit', create))
        : html`<p class="aside">Callers send <code>dynamic/NAME</code> as the model. ${guide} has the details.</p>${table('Routes of this gateway', columns, routes)}${pager(listOf(request), query, { ...info, count: routes.length })}`
    }${aliasesPart(request)}`,
  }
}

/** Returns the beginning of the id of a version, which people can tell apart. */
export function shortId(id: string): string {
  return id.slice(0, 8)
}

function aliasesPart({ gatewayEndpoint }: PageRequest): Html | null {
  const aliases = gatewayEndpoint?.aliases ?? []
  if (aliases.length === 0) return null
  return html`<h2 class="over">Aliases</h2><p class="aside">These are from the configuration file, apply to all gateways, and are changed there.</p>${table('Aliases from the configuration file', aliasColumns, aliases)}`
}

const aliasColumns = [
  { title: 'Name', isName: true, cell: ({ name }: ModelAlias) => html`<code>${name}</code>` },
  {
    title: 'Leads to',
    cell: ({ models }: ModelAlias) => html`<span class="long">${brief(models.join(', then '), 400)}</span>`,
  },
]
