// The list of AI gateways.

import { html } from '../../base/text/html.ts'
import type { Handler } from '../page/page-request.ts'
import { badge, emptyState, pager, table } from '../parts/lists.ts'
import { nextStep, stepLink } from '../parts/next-step.ts'
import { searchForm } from '../parts/search.ts'
import { time } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { gatewaysOf } from './page-data.ts'
import { type Gateway, limitInWords, logsInWords } from './gateway.ts'

export const showGateways: Handler = async request => {
  const search = request.query.get('search') ?? ''
  const response = await request.api.get<readonly Gateway[]>(gatewaysOf(request), {
    page: request.query.get('page'),
    search,
  })
  const account = request.account.id
  const path = paths.gateways(account)
  const create = stepLink(paths.newGateway(account), 'Create a gateway')
  const title = 'AI gateways'
  if (response.info!.total_count === 0 && search === '')
    return {
      title,
      content: emptyState('No gateways yet', whatFor, nextStep(request, 'AI Gateway Edit', create)),
    }
  const columns = [
    {
      title: 'Id',
      isName: true,
      cell: ({ id }: Gateway) => html`<a href="${paths.gateway(account, id)}">${id}</a>`,
    },
    { title: 'Authentication', cell: authenticationBadge },
    { title: 'Rate limit', cell: limitInWords },
    { title: 'Keeps', cell: logsInWords },
    { title: 'Created', cell: ({ created_at }: Gateway) => time(created_at) },
    {
      title: 'Calls',
      cell: ({ id }: Gateway) =>
        html`<a href="${paths.logs(account, id)}">Logs<span class="unseen"> of ${id}</span></a>`,
    },
  ]
  return {
    title,
    isWide: true,
    ...(request.may('AI Gateway Edit') && { actions: create }),
    content: html`${searchForm({ path, label: 'Part of the id', name: 'search', value: search })}${
      response.result.length === 0
        ? emptyState(
            'No gateway found',
            'No id of a gateway has this in it.',
            html`<a href="${path}">All gateways</a>`,
          )
        : table('AI gateways of this account', columns, response.result)
    }${pager(path, request.query, response.info!)}`,
  }
}

/** Shows whether calls need a token. */
export function authenticationBadge({ authentication }: Gateway) {
  return authentication ? badge('on', 'good') : badge('off', 'bad')
}

const whatFor =
  'An AI gateway passes calls to model providers: it asks for a token, limits how many calls there are, and logs what they cost.'
