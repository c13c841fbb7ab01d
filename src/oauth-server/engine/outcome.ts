// Records a request to the library: an event for the owner of the client, and a count.

import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { AuthorizationStep } from '../../store/records/authorization-event.ts'
import type { EngineParts } from './engine-parts.ts'
import { circumstancesOf, isForBrowser } from './error-response.ts'
import { readReference } from './grant-payload.ts'
import type { Context, OidcError } from './library.ts'
import { recordOf } from './client-metadata.ts'
import { reasonOf } from './reasons.ts'
import type { OAuthRequest } from './request.ts'

const tooMany = 429

export function recordOutcome(
  context: Context,
  request: OAuthRequest,
  { note, metrics }: Pick<EngineParts, 'note' | 'metrics'>,
): void {
  if (context.oidc === undefined) return
  count(context, request, metrics)
  noteEvent(context, request, note)
}

function count({ oidc }: Context, { failure }: OAuthRequest, metrics: EngineParts['metrics']): void {
  const { route, params = {}, entities } = oidc
  const error = failure?.statusCode === tooMany ? 'throttled' : (failure?.error ?? null)
  if (route === 'token') metrics.token(params.grant_type, error)
  else if (isForBrowser(route))
    metrics.authorization(error === null ? (hasCode(entities) ? 'code' : 'asked') : { error })
}

function hasCode({ AuthorizationCode }: Context['oidc']['entities']): boolean {
  return AuthorizationCode !== undefined
}

const steps: Readonly<Record<string, AuthorizationStep>> = {
  authorization: 'authorization',
  resume: 'consent',
  token: 'token',
  revocation: 'revocation',
  introspection: 'introspection',
  userinfo: 'userinfo',
}

function noteEvent(context: Context, request: OAuthRequest, note: EngineParts['note']): void {
  const { route, params = {}, client, entities } = context.oidc
  const { failure, sender, isAuthenticated } = request
  const step = steps[route]
  // Throttled requests would push out the events of others.
  if (client === undefined || step === undefined || failure?.statusCode === tooMany) return
  if (failure === null) {
    // A request that leads to our pages has no result yet.
    if (isForBrowser(route) && !hasCode(entities)) return
    if (step === 'introspection' || step === 'userinfo') return
  }
  const record = recordOf(client)
  const { user, account } = ownerOf(context, request)
  note({
    client: record.id,
    clientAccount: record.account,
    step: step === 'token' && params.grant_type === 'refresh_token' ? 'refresh' : step,
    result: failure === null ? 'success' : 'failure',
    error: failure?.error ?? null,
    reason: failure && reasonOf(failure, circumstancesOf(context, request)) + registeredUris(failure, record),
    user,
    account,
    address: sender.address ?? sender.peer,
    ray: sender.ray,
    isUnproven: !isAuthenticated && account === null,
  })
}

/** The code or token of another client tells nothing of them. */
function ownerOf({ oidc }: Context, { exchange, person }: OAuthRequest) {
  const { presented } = exchange
  if (presented !== null && oidc.client !== undefined && presented.client === recordOf(oidc.client).id) {
    const { account } = presented.data as { readonly account: string }
    return { user: presented.user, account }
  }
  const account = readReference(oidc.grant?.jti)?.account ?? null
  return { user: person?.user ?? null, account }
}

/** Returns the redirect URIs that one does not match, for the owner of the client alone. */
function registeredUris({ error }: OidcError, { redirectUris }: OAuthClient): string {
  return error === 'invalid_redirect_uri' ? `; registered: ${redirectUris.join(', ')}` : ''
}
