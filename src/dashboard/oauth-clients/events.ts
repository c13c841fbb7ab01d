// Events at the authorization server for an OAuth client: why its users could not connect.

import { type Html, html } from '../../base/text/html.ts'
import { isolated } from '../../pages/parts/components.ts'
import type { Handler } from '../page/page-request.ts'
import { badge, emptyState, pager, table } from '../parts/lists.ts'
import { exactTime } from '../parts/values.ts'
import { stepLink } from '../parts/next-step.ts'
import { paths, withQuery } from '../page/paths.ts'
import { clientOf, crumbsOf, findClient } from './page-data.ts'

export interface AuthorizationEvent {
  readonly id: string
  readonly when: string
  readonly step: string
  readonly result: 'success' | 'failure'
  readonly error?: string
  readonly reason?: string
  readonly user?: { readonly id: string }
  readonly ip?: string
  readonly ray?: string
}

const onAPage = 50

export const showEvents: Handler = async request => {
  const result = request.query.get('result') === 'failure' ? 'failure' : null
  const [response, events] = await Promise.all([
    findClient(request),
    request.api.get<AuthorizationEvent[]>(clientOf(request, 'authorization_events'), {
      page: request.query.get('page'),
      per_page: onAPage,
      result,
    }),
  ])
  const path = paths.clientEvents(request.account.id, request.params.client!)
  const other =
    result === null
      ? html`<a href="${withQuery(path, { result: 'failure' })}">Failures only</a>`
      : html`<a href="${path}">All events</a>`
  return {
    title: 'Authorization events',
    crumbs: crumbsOf(request, response.result),
    isWide: true,
    actions: other,
    content: html`<div id="events" data-live="10">${
      events.result.length === 0
        ? emptyState(
            result === null ? 'Nothing happened yet' : 'No failures',
            'Each step of people and of the app at the authorization server is noted here for 30 days, with the reason of each failure. The page of the client has the code that sends people to sign in.',
            stepLink(`${paths.client(request.account.id, request.params.client!)}#code`, 'Code for the app'),
          )
        : eventTable(events.result)
    }</div>${pager(path, request.query, events.info!)}`,
  }
}

/** Makes the table of events, newest first. */
export function eventTable(events: readonly AuthorizationEvent[]): Html {
  return table('Authorization events', columns, events)
}

const columns = [
  { title: 'When', cell: ({ when }: AuthorizationEvent) => exactTime(when) },
  {
    title: 'Step',
    cell: ({ step, result }: AuthorizationEvent) =>
      html`${step} ${badge(result, result === 'success' ? 'good' : 'bad')}`,
  },
  {
    title: 'Why',
    cell: ({ error, reason }: AuthorizationEvent) =>
      html`${error !== undefined && html`<code>${error}</code> `}${reason !== undefined && html`<span class="long">${isolated(reason)}</span>`}`,
  },
  {
    title: 'Whose',
    cell: ({ user, ip, ray }: AuthorizationEvent) =>
      html`<span class="hint">${[user && html`user <code>${user.id}</code> `, ip && html`from ${ip} `, ray && html`ray <code>${ray}</code>`].map(one => one || null)}</span>`,
  },
]
