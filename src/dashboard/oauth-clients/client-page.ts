// The page of one OAuth client.

import { type Html, html } from '../../base/text/html.ts'
import { scriptDoubts } from '../../oauth/clients/name-scripts.ts'
import { appMark } from '../../pages/parts/app-mark.ts'
import { facts, isolated } from '../../pages/parts/components.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import type { ListInfo } from '../page/api-client.ts'
import { dangerZone } from '../parts/forms.ts'
import { badge } from '../parts/lists.ts'
import { copyable, time } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { clientOf, crumbsOf, findClient, type ListedScope, listScopes } from './page-data.ts'
import { type Client, methodsInWords, preconditionsOf } from './client.ts'
import { codeFor } from './new-credentials.ts'
import { type AuthorizationEvent, eventTable } from './events.ts'
import { badgesOf } from './list.ts'
import { secretsCard } from './secrets.ts'
import { isBeingVerified, verificationCard } from './verification-card.ts'

const shownEvents = 5

export const showClient: Handler = async request => {
  const [response, scopes, grants, events] = await Promise.all([
    findClient(request),
    listScopes(request),
    request.api.get<readonly unknown[]>(clientOf(request, 'grants'), { per_page: 5 }),
    request.api.get<AuthorizationEvent[]>(clientOf(request, 'authorization_events'), {
      per_page: shownEvents,
    }),
  ])
  const client = response.result
  const mayWrite = request.may('OAuth Clients Write')
  return {
    title: client.client_name,
    crumbs: crumbsOf(request),
    hasPictures: client.logo_uri !== undefined,
    content: html`<p class="tags" id="badges"${isBeingVerified(client) && html` data-live="3"`}>${badgesOf(client)}</p>
${identityCard(request, client, mayWrite)}${scopesCard(request, client, scopes.result, mayWrite)}${secretsCard(request, client, mayWrite)}${verificationCard(request, client, mayWrite)}${visibilityCard(request, client, scopes.result, mayWrite)}${usersCard(request, grants.info!)}${eventsCard(request, events.result, events.info!)}${codeFor(request, client)}${dangerZone(
  mayWrite
    ? [
        {
          title: 'Delete',
          text: 'Ends all that people allowed this app to do, at once.',
          path: paths.deleteClient(request.account.id, client.client_id),
          link: 'Delete…',
        },
      ]
    : [],
)}`,
  }
}

function identityCard({ account }: PageRequest, client: Client, mayWrite: boolean): Html {
  return html`<section class="card" aria-labelledby="details"><h2 id="details">Details</h2>
${appMark(client.client_name, client.logo_uri ?? null)}${copyable('Client ID', client.client_id)}${facts([
  ['Its name', nameDoubt(client)],
  ['Kind', methodsInWords[client.token_endpoint_auth_method]],
  ['Redirect URIs', texts(client.redirect_uris)],
  ['Stays signed in', client.grant_types.includes('refresh_token') ? 'yes, with refresh tokens' : 'no'],
  ['Home page', page(client.client_uri)],
  ['Privacy policy', page(client.policy_uri)],
  ['Terms of service', page(client.tos_uri)],
  ['After sign-out', texts(client.post_logout_redirect_uris)],
  ['Allowed origins', texts(client.allowed_cors_origins)],
  ['Created', time(client.created_at)],
  ['Changed', client.updated_at === client.created_at ? null : time(client.updated_at)],
  ['Published', client.promoted_at === undefined ? null : time(client.promoted_at)],
])}${mayWrite && html`<p><a class="button plain small" href="${paths.editClient(account.id, client.client_id)}">Edit</a></p>`}</section>`
}

/** Returns the note that people see beside the name when the app requests access. */
function nameDoubt({ client_name }: Client): Html | null {
  const doubts = scriptDoubts(client_name)
  return doubts.length === 0 ? null : isolated(doubts.join(', and '))
}

function scopesCard(
  { account }: PageRequest,
  client: Client,
  scopes: readonly ListedScope[],
  mayWrite: boolean,
): Html {
  const nameOf = (id: string) => scopes.find(scope => scope.id === id)?.name ?? id
  return html`<section class="card" aria-labelledby="scopes"><h2 id="scopes">Scopes</h2>
<ul class="plain-list">${client.scopes.map(
    id =>
      html`<li>${nameOf(id)} <code>${id}</code>${client.optional_scopes.includes(id) && html` ${badge('optional')}`}</li>`,
  )}</ul>${mayWrite && html`<p><a class="button plain small" href="${paths.clientScopes(account.id, client.client_id)}">Change the scopes</a></p>`}</section>`
}

function visibilityCard(
  request: PageRequest,
  client: Client,
  scopes: readonly ListedScope[],
  mayWrite: boolean,
): Html {
  if (client.visibility === 'public')
    return html`<section class="card" aria-labelledby="visibility"><h2 id="visibility">Visibility</h2><p>Everybody may allow this app. That is permanent.</p></section>`
  const conditions = preconditionsOf(client, scopes)
  const isReady = conditions.every(({ isMet }) => isMet)
  const publish = paths.publishClient(request.account.id, client.client_id)
  const isLive = isBeingVerified(client)
  return html`<section class="card" aria-labelledby="visibility" id="visibility-card"${isLive && html` data-live="3"`}><h2 id="visibility">Visibility</h2>
<p>Only members of this account may allow this app. To publish it, it needs:</p>
<ul class="checklist">${conditions.map(
    ({ isMet, text }) => html`<li>${badge(isMet ? 'done' : 'missing', isMet ? 'good' : '')} ${text}</li>`,
  )}</ul>
${mayWrite && isReady && html`<p><a class="button plain small" href="${publish}">Publish…</a></p>`}</section>`
}

function usersCard({ account, params }: PageRequest, { total_count: total }: ListInfo): Html {
  return html`<section class="card" aria-labelledby="users"><h2 id="users">Who allowed it</h2><p>${
    total === 0
      ? 'Nobody has allowed this app yet.'
      : html`${total === 1 ? 'One consent' : `${total} consents`} of people: <a href="${paths.clientGrants(account.id, params.client!)}">see and end them</a>.`
  }</p></section>`
}

function eventsCard(
  { account, params }: PageRequest,
  events: readonly AuthorizationEvent[],
  info: ListInfo,
): Html {
  const all = paths.clientEvents(account.id, params.client!)
  return html`<section class="card" aria-labelledby="events" id="latest-events" data-live="10"><h2 id="events">Authorization events</h2>${
    events.length === 0
      ? html`<p>Nothing happened yet. If a sign-in with this app fails, the reason is here for 30 days.</p>`
      : html`${eventTable(events)}<p><a href="${all}">${info.total_count > events.length ? `All ${info.total_count} events` : 'Events'}</a></p>`
  }</section>`
}

/** Other sites are shown, and linked to without a referrer. */
function page(uri: string | undefined): Html | null {
  if (uri === undefined) return null
  return uri.startsWith('https://')
    ? html`<a class="long" href="${uri}" rel="noreferrer noopener">${isolated(uri)}</a>`
    : isolated(uri)
}

function texts(uris: readonly string[]): Html | null {
  if (uris.length === 0) return null
  return html`<ul class="plain-list">${uris.map(uri => html`<li class="long">${isolated(uri)}</li>`)}</ul>`
}
