// Error responses: with a reason for the developer of the app, and a link to an explanation.

import {
  hasKnownPublisher,
  leadsToProven,
  provenHostOf,
  shownNameOf,
} from '../../oauth/clients/proven-host.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import { type Store, StoreUnreachable } from '../../store/contract/store.ts'
import { errorPage } from '../pages/pages.ts'
import { isMember } from '../../oauth/grants/eligibility.ts'
import type { Context, OidcError } from './library.ts'
import { recordOf } from './client-metadata.ts'
import { reasonOf } from './reasons.ts'
import type { OAuthRequest } from './request.ts'
import { visible } from './scopes.ts'

export const errorEvents = [
  'authorization.error',
  'grant.error',
  'revocation.error',
  'introspection.error',
  'userinfo.error',
] as const

interface Body {
  error: string
  error_description?: string | undefined
  error_uri?: string
}

type ErrorUri = (error: string) => string

export function isForBrowser(route: string | undefined): boolean {
  return route === 'authorization' || route === 'resume'
}

export function replaceByError(context: Context, request: OAuthRequest, error: OidcError): void {
  request.failure = error
  context.status = error.statusCode
  context.body = { error: error.error, error_description: error.error_description } satisfies Body
}

/**
 * A mere link could send a person anywhere (RFC 9700 section 4.11.2): for a private client without a verified
 * host, a page replaces the redirect until a member has signed in, except with `prompt=none`.
 */
export async function keepFromApp(context: Context, request: OAuthRequest, store: Store): Promise<void> {
  const { failure, person } = request
  const { client, route, params } = context.oidc ?? {}
  if (client === undefined || failure === null || !isForBrowser(route)) return
  if (context.response.get('location') === undefined || params?.prompt === 'none') return
  const record = recordOf(client)
  if (hasKnownPublisher(record) || leadsToDocument(record, params?.redirect_uri)) return
  // A person who has decided has seen our pages; otherwise the link may come from anywhere.
  if (person !== null && (route === 'resume' || (await isKnownMember(store, record, person.user)))) return
  context.remove('location')
  context.status = failure.statusCode
  context.body = { error: failure.error } satisfies Body
}

/** Whether a redirect leads to the host that has the document of a client. */
function leadsToDocument(client: OAuthClient, redirectUri: unknown): boolean {
  if (client.document === undefined || typeof redirectUri !== 'string') return false
  return leadsToProven(redirectUri, provenHostOf(client)!)
}

/** Whether a user is known to be in the account of a client: not if the store cannot be reached. */
async function isKnownMember(
  store: Store,
  { account, document }: OAuthClient,
  user: string,
): Promise<boolean> {
  try {
    return document === undefined && (await isMember(store, account, user))
  } catch (error) {
    if (error instanceof StoreUnreachable) return false
    throw error
  }
}

export function explainError(context: Context, request: OAuthRequest, errorUri: ErrorUri): void {
  const body = (context.body ?? {}) as Partial<Body>
  if (typeof body.error !== 'string') return explainRedirect(context, request, errorUri)
  const description = descriptionOf(context, request)
  if (description !== null) body.error_description = description
  body.error_uri = errorUri(body.error)
  if (isForBrowser(context.oidc.route)) showPage(context, request, body as Required<Body>)
}

function showPage(context: Context, { sender }: OAuthRequest, body: Required<Body>): void {
  const { error, error_description: description = '', error_uri: uri } = body
  const { client } = context.oidc
  const app = client === undefined ? null : shownNameOf(recordOf(client))
  const page = errorPage({ status: context.status, error, description, uri, ray: sender.ray, app })
  for (const [name, value] of page.headers) context.set(name, value)
  context.body = page.body
}

function explainRedirect(context: Context, request: OAuthRequest, errorUri: ErrorUri): void {
  const location = context.response.get('location')
  if (location === undefined) return
  const url = URL.parse(location)
  if (url !== null && request.failure !== null) {
    // Errors of the implicit flow go where that flow looks for them (RFC 6749 section 4.2.2.1).
    const params = url.hash === '' ? url.searchParams : new URLSearchParams(url.hash.slice(1))
    params.set('error_description', descriptionOf(context, request)!)
    params.set('error_uri', errorUri(params.get('error') ?? 'server_error'))
    if (url.hash !== '') url.hash = params.toString()
    context.redirect(url.href)
  }
  context.body = ''
}

/** Returns what the app is told; null to leave it at the library's words. */
function descriptionOf(context: Context, request: OAuthRequest): string | null {
  const { failure } = request
  if (failure === null) return null
  if (failure.error === 'server_error') return 'the server failed; its log says why'
  // Only the owner of a client may read more about its secrets.
  if (failure.error === 'invalid_client' && !isForBrowser(context.oidc.route)) return null
  return visible(reasonOf(failure, circumstancesOf(context, request)))
}

export function circumstancesOf({ oidc, headers }: Context, { exchange }: OAuthRequest) {
  return {
    presented: exchange.presented,
    client: oidc.client === undefined ? null : recordOf(oidc.client).id,
    params: oidc.params ?? {},
    authorization: headers.authorization,
  }
}
