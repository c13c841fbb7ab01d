// Finishes the library's response: commits tokens, explains errors, and records the outcome.

import { removeCorsHeaders } from '../http/cors.ts'
import { type Guard, unavailable } from '../http/unavailable.ts'
import { chosenAccount } from './decisions.ts'
import type { EngineParts } from './engine-parts.ts'
import { explainError, keepFromApp, replaceByError } from './error-response.ts'
import type { Context, Library } from './library.ts'
import { recordOutcome } from './outcome.ts'
import { Reason } from './reasons.ts'
import { currentRequest, type OAuthRequest } from './request.ts'

type Errors = Library['errors']

export function finishing(parts: EngineParts, errors: Errors, guard: Guard) {
  return async (context: Context, next: () => Promise<void>): Promise<void> => {
    const request = currentRequest()
    await next()
    if (context.oidc?.route === 'introspection') removeCorsHeaders(context)
    await commit(context, request, { errors, store: parts.store, guard })
    addAccount(context, request)
    dropUnknownScopes(context, parts)
    if (hasUnregisteredGrantType(context, request)) {
      const description = 'the client has not registered this grant type'
      replaceByError(context, request, new errors.UnauthorizedClient(description))
    }
    await keepFromApp(context, request, parts.store)
    if (context.status === unavailable.status) context.set('retry-after', unavailable.retryAfter)
    explainError(context, request, parts.errorUri)
    recordOutcome(context, request, parts)
  }
}

/** Before the response goes out: the library saves tokens one by one, and does not say which is the last. */
async function commit(
  context: Context,
  request: OAuthRequest,
  { errors, store, guard }: Pick<EngineParts, 'store'> & { errors: Errors; guard: Guard },
): Promise<void> {
  const { exchange } = request
  if (exchange.issued.length === 0 || context.status !== 200) return
  try {
    const reason = await guard(() => exchange.commit(store))
    if (reason !== null) throw new errors.InvalidGrant({ cause: new Reason(reason) })
  } catch (error) {
    if (!(error instanceof errors.OIDCProviderError)) throw error
    replaceByError(context, request, error)
  }
}

/** To a token that was issued, or is active: the app learns which account the person chose. */
function addAccount({ oidc, body, status }: Context, request: OAuthRequest): void {
  const account = chosenAccount(request)
  if (account === null || status !== 200) return
  const isOfToken = oidc?.route === 'token' || (oidc?.route === 'introspection' && isActive(body))
  if (isOfToken) Object.assign(body as object, { account })
}

/** From what is told of a token: the operator may have removed a scope since it was issued. */
function dropUnknownScopes({ oidc, body }: Context, { routes }: Pick<EngineParts, 'routes'>): void {
  if (oidc?.route !== 'introspection' || !isActive(body)) return
  const told = body as { scope?: string }
  const scopes = told.scope?.split(' ').filter(scope => routes.scopes.some(({ id }) => id === scope))
  if (scopes !== undefined) told.scope = scopes.join(' ')
}

function isActive(body: unknown): boolean {
  return (body as { readonly active?: unknown } | undefined)?.active === true
}

/** The library calls it `invalid_request` (RFC 6749 section 5.2). */
function hasUnregisteredGrantType({ oidc }: Context, { failure }: OAuthRequest): boolean {
  const { route, client, params } = oidc ?? {}
  if (route !== 'token' || failure?.error !== 'invalid_request' || client === undefined) return false
  return typeof params?.grant_type === 'string' && !client.grantTypeAllowed(params.grant_type)
}
