// Who allowed an OAuth client to act for them, as its owner may know it, and the end of that.

import { html } from '../../base/text/html.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import type { Ask, Handler } from '../page/page-request.ts'
import { done } from '../page/flash-messages.ts'
import { Draft } from '../parts/draft.ts'
import { confirmation } from '../parts/forms.ts'
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

export const showGrants: Handler = async ask => {
  const [found, grants] = await Promise.all([
    findClient(ask),
    ask.api.get<Grant[]>(clientOf(ask, 'grants'), { page: ask.query.get('page') }),
  ])
  if (!found.ok) return found
  if (!grants.ok) return grants
  const { id } = ask.account
  const client = ask.params.client!
  const mayWrite = ask.may('OAuth Clients Write')
  const view = { title: 'Who allowed it', crumbs: crumbsOf(ask, found.result) }
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
    content: html`<p class="lead">Of people you see the ids, which are those in the tokens of the app.</p>${table('Consents', columns, grants.result)}${pager(paths.clientGrants(id, client), ask.query, grants.info!)}`,
  }
}

export const confirmEndGrant: Handler = async ask => {
  const found = await findClient(ask)
  if (!found.ok) return found
  return {
    title: 'End this consent?',
    crumbs: crumbsOf(ask, found.result),
    content: confirmation({
      frame: ask.frameFor(ask.path),
      draft: new Draft(),
      what: html`<p>The app can no longer act for this person: its tokens end at once. To act for them again, it needs their consent again.</p>`,
      send: 'End the consent',
      cancel: grantsPage(ask),
    }),
  }
}

export const endGrant: Handler = async ask => {
  const ended = await ask.api.delete(clientOf(ask, 'grants', ask.params.grant!))
  return ended.ok ? redirectTo(done(grantsPage(ask), 'grant-ended')) : ended
}

export const confirmEndAll: Handler = async ask => {
  const [found, grants] = await Promise.all([
    findClient(ask),
    ask.api.get<Grant[]>(clientOf(ask, 'grants'), { per_page: 5 }),
  ])
  if (!found.ok) return found
  if (!grants.ok) return grants
  const { total_count: total } = grants.info!
  // Nothing is asked where there is nothing to end.
  if (total === 0) return redirectTo(grantsPage(ask))
  return {
    title: 'End all consents?',
    crumbs: crumbsOf(ask, found.result),
    content: confirmation({
      frame: ask.frameFor(ask.path),
      draft: new Draft(),
      what: html`<p>${total === 1 ? 'One consent ends' : `${total} consents end`}, with all their tokens. Everybody who wants the app to act for them has to allow it again.</p>`,
      send: 'End all consents',
      cancel: grantsPage(ask),
    }),
  }
}

export const endAllGrants: Handler = async ask => {
  const ended = await ask.api.delete(clientOf(ask, 'grants'))
  return ended.ok ? redirectTo(done(grantsPage(ask), 'grants-ended')) : ended
}

function grantsPage({ account, params }: Ask): string {
  return paths.clientGrants(account.id, params.client!)
}
