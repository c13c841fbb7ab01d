// What happens around the engine: tokens are written before the response goes out, errors get more words, and what happened is noted.

import type { AuthorizationStep } from '../store/records/authorization-event.ts'
import type { PeopleMetrics } from '../metrics/counters/people-metrics.ts'
import type { Credential } from '../store/records/credential.ts'
import type { OAuthClient } from '../store/records/oauth-client.ts'
import { type Store, StoreUnreachable } from '../store/contract/store.ts'
import type { Happening } from '../oauth-grants/authorization-log.ts'
import { endOf, familyOf, graceOf, replayReason, successionOf } from '../oauth-grants/family.ts'
import { hasKnownPublisher } from '../oauth-clients/proven-host.ts'
import type { PageResponse } from '../pages/parts/layout.ts'
import type { RequestError } from './pages.ts'
import { type EngineFailure, reasonOf } from './engine/reasons.ts'
import { factsOf, type RequestFacts } from './engine/request-facts.ts'
import { visible } from './engine/request-rules.ts'
import type { Context } from './engine/engine-types.ts'
import { isMember } from './standing.ts'

/** Seconds until it is of use to try again where the store was unreachable. */
export const unavailableFor = '5'

interface SettleParts {
  readonly store: Store
  /** Returns where an error of OAuth is explained. */
  readonly errorUri: (error: string) => string
  readonly note: (happening: Happening) => void
  readonly metrics: PeopleMetrics
  /** Makes the page for an authorization request that must not be sent back to its app. */
  readonly showError: (error: RequestError) => PageResponse
}

/** Makes what goes around each request to the engine. */
export function settling({ store, errorUri, note, metrics, showError }: SettleParts) {
  return async (context: Context, next: () => Promise<void>): Promise<void> => {
    const facts = factsOf(context.req)
    await next()
    // The engine sets them before it knows the client, and without an Origin too.
    if (context.oidc?.route === 'introspection') for (const name of ofPages) context.remove(name)
    await issue(context, facts, store)
    await keepFromApp(context, facts, store)
    if (context.status === 503) context.set('retry-after', unavailableFor)
    const { error } = (context.body ?? {}) as { readonly error?: unknown }
    if (typeof error === 'string') {
      explain(context, facts, errorUri)
      if (ofBrowsers.has(context.oidc.route)) show(context, facts, showError)
    } else explainRedirect(context, facts, errorUri)
    noteOutcome(context, facts, note)
    count(context, facts, metrics)
  }
}

/** What lets pages of other sites read a response. */
const ofPages = ['access-control-allow-origin', 'access-control-expose-headers'] as const

/**
 * Replaces the redirect of an error by a page of ours while a mere link could send a person anywhere (RFC 9700 section
 * 4.11.2): for a private client without a verified host, until the person has signed in and is known to be a member.
 * With `prompt=none`, the redirect stays, as OpenID Connect requires.
 */
async function keepFromApp(context: Context, facts: RequestFacts, store: Store): Promise<void> {
  const { client, failure, person, isThrottled } = facts
  const { route = '', params = {} } = context.oidc ?? {}
  if (client === null || failure === null || !ofBrowsers.has(route)) return
  if (context.response.get('location') === undefined || params.prompt === 'none') return
  if (hasKnownPublisher(client)) return
  // Whoever decided has seen our pages; else the link may come from anywhere.
  if (person !== null && (route === 'resume' || (await isKnownMember(store, client.account, person.user))))
    return
  context.remove('location')
  context.status = isThrottled ? 429 : (failure.statusCode ?? 500)
  context.body = { error: failure.error ?? 'server_error' }
}

/** Whether a user is in an account, as far as the store can say. */
async function isKnownMember(store: Store, account: string, user: string): Promise<boolean> {
  try {
    return await isMember(store, account, user)
  } catch (cause) {
    if (!(cause instanceof StoreUnreachable)) throw cause
    return false
  }
}

async function issue(context: Context, facts: RequestFacts, store: Store): Promise<void> {
  const { issued, spent } = facts
  if (issued.length === 0 || context.status !== 200) return
  try {
    const reason = await exchange(spent!, issued, store)
    if (reason === null) return
    facts.reason = reason
    fail(context, facts, 400, { error: 'invalid_grant', error_description: 'grant request is invalid' })
  } catch (cause) {
    if (!(cause instanceof StoreUnreachable)) throw cause
    fail(context, facts, 503, {
      error: 'temporarily_unavailable',
      error_description: 'the store of the server cannot be reached; try again',
    })
  }
}

/** Stores tokens in place of what they are issued for; returns why that cannot be, or null. */
async function exchange(
  spent: Credential,
  issued: readonly Credential[],
  { credentials }: Store,
): Promise<string | null> {
  const { kind, digest } = spent
  const at = Date.now()
  const end = endOf(familyOf(spent)!, spent, at)
  const succession = successionOf(spent, issued, at)
  const { outcome, consumedAt } = await credentials.exchange({
    ...{ kind, digest, at, end },
    issued: succession === null ? issued : [...issued, succession],
    grace: graceOf(kind),
  })
  if (outcome === 'issued') return null
  return outcome === 'replayed' ? replayReason(kind, consumedAt, at) : 'the access was ended meanwhile'
}

function fail(context: Context, facts: RequestFacts, status: number, failure: EngineFailure): void {
  facts.failure = failure
  context.status = status
  context.body = { ...failure }
}

/** Puts in the body why it failed, and where that is explained. */
function explain(context: Context, facts: RequestFacts, errorUri: SettleParts['errorUri']): void {
  const body = context.body as Body
  const description = descriptionOf(context, facts)
  if (description !== null) body.error_description = description
  body.error_uri = errorUri(body.error)
}

const ofBrowsers: ReadonlySet<string> = new Set(['authorization', 'resume'])

function show(context: Context, { sender, client }: RequestFacts, showError: SettleParts['showError']): void {
  const { error, error_description: description = '', error_uri: uri = '' } = context.body as Body
  const { status } = context
  const app = client?.name ?? null
  const page = showError({ status, error, description, uri, ray: sender.ray, app })
  for (const [name, value] of page.headers) context.set(name, value)
  context.body = page.body
}

interface Body {
  error: string
  error_description?: string
  error_uri?: string
}

function explainRedirect(context: Context, facts: RequestFacts, errorUri: SettleParts['errorUri']): void {
  const location = context.response.get('location')
  if (location === undefined) return
  const url = URL.parse(location)
  if (url !== null && facts.failure !== null) {
    // What is refused of the implicit flow goes where that flow looks (RFC 6749 section 4.2.2.1).
    const params = url.hash === '' ? url.searchParams : new URLSearchParams(url.hash.slice(1))
    params.set('error_description', descriptionOf(context, facts)!)
    params.set('error_uri', errorUri(params.get('error') ?? 'server_error'))
    if (url.hash !== '') url.hash = params.toString()
    context.redirect(url.href)
  }
  // Nobody reads it.
  context.body = ''
}

/** Returns what the app is told; null for what the engine says already. */
function descriptionOf({ oidc }: Context, facts: RequestFacts): string | null {
  const { failure } = facts
  if (failure === null) return null
  if (failure.error === 'server_error') return 'the server failed; its log says why'
  const isVague = failure.error === 'invalid_client' && !ofBrowsers.has(oidc.route)
  if (isVague && facts.reason?.startsWith('client authentication sent') !== true) return null
  return visible(reasonOf(failure, { ...facts, params: oidc.params ?? {} }))
}

function count({ oidc }: Context, { failure, isGranted, isThrottled }: RequestFacts, metrics: PeopleMetrics) {
  const { route = '', params = {} } = oidc ?? {}
  const error = isThrottled ? 'throttled' : failure && (failure.error ?? 'other')
  if (route === 'token') metrics.token(params.grant_type, error)
  else if (ofBrowsers.has(route))
    metrics.authorization(error === null ? (isGranted ? 'code' : 'asked') : { error })
}

const steps: Readonly<Record<string, AuthorizationStep>> = {
  authorization: 'authorization',
  resume: 'consent',
  token: 'token',
  revocation: 'revocation',
  introspection: 'introspection',
  userinfo: 'userinfo',
}

function noteOutcome(context: Context, facts: RequestFacts, note: SettleParts['note']): void {
  const { client, failure, sender, isThrottled } = facts
  const { route = '', params = {} } = context.oidc ?? {}
  const step = steps[route]
  if (client === null || step === undefined || isThrottled) return
  // A request that leads to the pages is no result yet.
  const isUnderWay = failure === null && (step === 'authorization' || step === 'consent') && !facts.isGranted
  if (isUnderWay || (failure === null && (step === 'introspection' || step === 'userinfo'))) return
  note({
    client: client.id,
    clientAccount: client.account,
    step: step === 'token' && params.grant_type === 'refresh_token' ? 'refresh' : step,
    result: failure === null ? 'success' : 'failure',
    error: failure?.error ?? null,
    reason:
      failure === null ? null : reasonOf(failure, { ...facts, params }) + registeredUris(failure, client),
    user: facts.user ?? facts.person?.user ?? null,
    account: facts.account,
    address: sender.address ?? sender.peer,
    ray: sender.ray,
    isUnproven: !facts.isAuthenticated && facts.account === null,
  })
}

/** Returns the other side of a redirect URI that does not match, for the owner of the client alone. */
function registeredUris({ error }: EngineFailure, { redirectUris }: OAuthClient): string {
  return error === 'invalid_redirect_uri' ? `; registered: ${redirectUris.join(', ')}` : ''
}
