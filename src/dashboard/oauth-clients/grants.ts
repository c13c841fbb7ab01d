// The users who authorized an OAuth client, as far as its owner may know them, and ending their grants.

import { html } from '../../base/text/html.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { redirectWith } from '../page/flash-messages.ts'
import { confirmationPage } from '../parts/forms.ts'
import { emptyState, pager, table } from '../parts/lists.ts'
import { resourceOf, time } from '../parts/values.ts'
import { stepLink } from '../parts/next-step.ts'
import { paths } from '../page/paths.ts'
import { clientOf, crumbsOf, findClient } from './page-data.ts'

interface Grant {
  readonly id: string
  readonly scopes: readonly string[]
  readonly resource: readonly string[]
  readonly created_at: string
  readonly user: { readonly id: string }
  readonly account: { readonly id: string }
}

export const showGrants: Handler = async request => {
  const [response, grants] = await Promise.all([
    findClient(request),
    request.api.get<Grant[]>(clientOf(request, 'grants'), { page: request.query.get('page') }),
  ])
  const { id } = request.account
  const client = request.params.client!
  const mayWrite = request.may('OAuth Clients Write')
  const view = { title: 'Who allowed it', crumbs: crumbsOf(request, response.result) }
  if (grants.info!.total_count === 0)
    return {
      ...view,
      content: emptyState(
        'Nobody yet',
        'When a person allows this app to act for them, it is listed here. The page of the client has the code that sends people to sign in.',
        stepLink(`${paths.client(id, client)}#code`, 'Code for the app'),
      ),
    }
  const columns = [
    { title: 'User', isName: true, cell: ({ user }: Grant) => html`<code>${user.id}</code>` },
    { title: 'In account', cell: ({ account }: Grant) => html`<code>${account.id}</code>` },
    { title: 'Scopes', cell: ({ scopes }: Grant) => scopes.join(', ') },
    { title: 'At', cell: ({ resource }: Grant) => resourceOf(resource) },
    { title: 'Since', cell: ({ created_at }: Grant) => time(created_at) },
    ...(mayWrite
      ? [
          {
            title: 'End',
            cell: (grant: Grant) =>
              html`<a class="whole" href="${paths.endClientGrant(id, client, grant.id)}">End…</a>`,
          },
        ]
      : []),
  ]
  return {
    ...view,
    isWide: true,
    ...(mayWrite && {
      actions: html`<a class="button danger small" href="${paths.endClientGrants(id, client)}">End all…</a>`,
    }),
    content: html`<p class="lead">Of people you see the ids, which are those in the tokens of the app.</p>${table('Consents', columns, grants.result)}${pager(paths.clientGrants(id, client), request.query, grants.info!)}`,
  }
}

export const confirmEndGrant: Handler = async request => {
  const response = await findClient(request)
  return confirmationPage({
    title: 'End this consent?',
    crumbs: crumbsOf(request, response.result),
    frame: request.frameFor(request.path),
    what: html`<p>The app can no longer act for this person: its tokens end at once. To act for them again, it needs their consent again.</p>`,
    send: 'End the consent',
    cancel: grantsPage(request),
  })
}

export const endGrant: Handler = async request => {
  const ended = await request.api.delete(clientOf(request, 'grants', request.params.grant!))
  return ended.ok ? redirectWith(grantsPage(request), 'grant-ended') : ended
}

export const confirmEndAll: Handler = async request => {
  const [response, grants] = await Promise.all([
    findClient(request),
    request.api.get<Grant[]>(clientOf(request, 'grants'), { per_page: 5 }),
  ])
  const { total_count: total } = grants.info!
  // With nothing to end, there is nothing to confirm.
  if (total === 0) return redirectTo(grantsPage(request))
  return confirmationPage({
    title: 'End all consents?',
    crumbs: crumbsOf(request, response.result),
    frame: request.frameFor(request.path),
    what: html`<p>${total === 1 ? 'One consent ends' : `${total} consents end`}, with all their tokens. Everybody who wants the app to act for them has to allow it again.</p>`,
    send: 'End all consents',
    cancel: grantsPage(request),
  })
}

export const endAllGrants: Handler = async request => {
  const ended = await request.api.delete(clientOf(request, 'grants'))
  return ended.ok ? redirectWith(grantsPage(request), 'grants-ended') : ended
}

function grantsPage({ account, params }: PageRequest): string {
  return paths.clientGrants(account.id, params.client!)
}
