// The list of OAuth clients.

import { type Html, html } from '../../base/text/html.ts'
import { mixedScripts } from '../../oauth/clients/name-scripts.ts'
import { markedName } from '../../pages/parts/app-mark.ts'
import { isolated } from '../../pages/parts/components.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { badge, badges, emptyState, pager, table } from '../parts/lists.ts'
import { nextStep, stepLink } from '../parts/next-step.ts'
import { searchForm } from '../parts/search.ts'
import { brief, time } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { clientsOf } from './page-data.ts'
import { type Client, isConfidential, statesInWords } from './client.ts'

export const showClients: Handler = async request => {
  const name = request.query.get('name')
  const visibility = request.query.get('visibility')
  const response = await request.api.get<Client[]>(clientsOf(request), {
    page: request.query.get('page'),
    per_page: 50,
    client_name: name,
    visibility: visibility === 'private' || visibility === 'public' ? visibility : null,
  })
  const { id } = request.account
  const isSearch = Boolean(name || visibility)
  const create = stepLink(paths.newClient(id), 'Create a client')
  const view = { title: 'OAuth clients', ...(request.may('OAuth Clients Write') && { actions: create }) }
  if (response.info!.total_count === 0 && !isSearch)
    return {
      ...view,
      actions: html``,
      content: emptyState(
        'No clients yet',
        'A client is an app that acts for people: they see what it asks for, and allow it. It gets tokens for the management API and for AI gateways.',
        nextStep(request, 'OAuth Clients Write', create),
      ),
    }
  return {
    ...view,
    isWide: true,
    content: html`${searchForm({
      path: paths.clients(id),
      label: 'Name',
      name: 'name',
      value: name ?? '',
      choices: [
        {
          name: 'visibility',
          label: 'Visibility',
          value: visibility ?? '',
          options: [
            ['', 'All'],
            ['private', 'Private'],
            ['public', 'Public'],
          ],
        },
      ],
    })}${
      response.result.length === 0
        ? emptyState(
            'Nothing found',
            'No client has this in its name, with this visibility.',
            html`<a href="${paths.clients(id)}">All clients</a>`,
          )
        : table('OAuth clients of this account', columnsOf(request), response.result)
    }${pager(paths.clients(id), request.query, response.info!)}`,
  }
}

function columnsOf({ account }: PageRequest) {
  return [
    {
      title: 'Name',
      isName: true,
      cell: ({ client_id, client_name }: Client) =>
        markedName(
          client_name,
          html`<a href="${paths.client(account.id, client_id)}">${isolated(client_name)}</a>`,
        ),
    },
    { title: 'State', cell: (client: Client) => html`<span class="tags">${badgesOf(client)}</span>` },
    { title: 'Redirects to', cell: ({ redirect_uris }: Client) => redirectsOf(redirect_uris) },
    { title: 'Created', cell: ({ created_at }: Client) => time(created_at) },
  ]
}

/** Returns the facts about a client at a glance. */
export function badgesOf(client: Client): Html {
  const { visibility, client_uri_verification: verification, client_secrets: secrets } = client
  return badges([
    badge(visibility, visibility === 'public' ? 'good' : ''),
    ...(verification === undefined
      ? []
      : [
          badge(
            statesInWords[verification.status],
            verification.status === 'verified' ? 'good' : verification.status === 'failed' ? 'bad' : '',
          ),
        ]),
    ...(mixedScripts(client.client_name).length > 0 ? [badge('mixed scripts', 'bad')] : []),
    ...(isConfidential(client) ? [] : [badge('PKCE')]),
    ...(secrets.length > 1 ? [badge('two secrets')] : []),
    ...(secrets.some(({ status }) => status === 'key_lost') ? [badge('secret lost', 'bad')] : []),
  ])
}

function redirectsOf([first, ...others]: readonly string[]): Html {
  return html`<span class="long">${isolated(brief(first!))}</span>${others.length > 0 && html` <span class="hint">and ${others.length} more</span>`}`
}
