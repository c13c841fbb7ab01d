// Whether one of the gates of the route lets a request in, and what its origin learns of that.

import { memoizeEach, memoizeLast } from '../../base/memo.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { field } from '../../http1/fields/fields.ts'
import { RequestHead } from '../../http1/heads/request-head.ts'
import { challengeOf, resourceAt } from '../../oauth/grants/protected-resource.ts'
import type { MaybeAtOnce } from '../../store/contract/store.ts'
import { token68Of } from '../../tokens/bearer.ts'
import type { Decided, Exchange } from '../exchange/exchange.ts'
import { withholdCredentials, withholdOthers } from '../exchange/gateway-credentials.ts'
import { publicOriginInZone } from '../exchange/public-origin.ts'
import { hasPassedHere } from '../exchange/passed-here.ts'
import type { Admission, GateFault, Requester } from '../gates/gate.ts'
import type { Gate } from '../gates/gates.ts'
import type { EdgeRoute } from '../snapshot/snapshot.ts'
import { askAuthorizer, relay } from './ask-authorizer.ts'
import { isNavigation, leadToSignIn, siteCookieOf } from './site-sign-in.ts'

/**
 * Refuses a request without a credential that a gate accepts (401), with one that is not enough (403), or
 * one that cannot be checked now (503). The first gate that lets it in decides what the origin gets.
 */
export function protect(x: Exchange): Decided {
  const { gates, stranger } = x.route!
  if (gates === null) return stranger === null ? null : admitStranger(x, stranger)
  if (passesAgain(x, gates)) return null
  return tryGates(x, gates, 0, [])
}

type Outcome = Admission | GateFault

function tryGates(x: Exchange, gates: readonly Gate[], first: number, faults: GateFault[]): Decided {
  for (let i = first; i < gates.length; i++) {
    const gate = gates[i]!
    const refusal = gate.kind === 'forward' ? refuseToAsk(x, gates) : null
    if (refusal !== null) return refusal
    const outcome = identified(x, tryGate(x, gate))
    if (outcome instanceof Promise)
      return outcome.then(settled => {
        note(x, gate, settled)
        if ('changes' in settled) return pass(x, gates, gate, settled)
        return tryGates(x, gates, i + 1, [...faults, settled])
      })
    note(x, gate, outcome)
    if ('changes' in outcome) return pass(x, gates, gate, outcome)
    faults.push(outcome)
  }
  return refuseFor(x, faults)
}

function note({ zone }: Exchange, { kind }: Gate, outcome: Outcome): void {
  zone!.metrics.gate(kind, 'changes' in outcome ? 'passed' : outcome.kind)
}

/** Adds svc-identity where the zone has it. */
function identified(x: Exchange, outcome: MaybeAtOnce<Outcome>): MaybeAtOnce<Outcome> {
  const { identity } = x.zone!
  if (identity === null || x.plane.isRehearsal) return outcome
  if (outcome instanceof Promise) return outcome.then(settled => identified(x, settled))
  return 'changes' in outcome ? identity.addTo(outcome) : outcome
}

function tryGate(x: Exchange, gate: Gate): MaybeAtOnce<Outcome> {
  if (gate.kind === 'forward') return askAuthorizer(x, gate)
  if (gate.kind === 'sign_in') return gate.check(siteCookieOf(x), x.host)
  const token = tokenIn(x.head)
  if (gate.kind === 'jwt') return x.mcp === null ? gate.check(token) : withMetadata(x, gate.check(token))
  const { ai } = x.plane
  if (ai === null) return withoutTokens
  const { tokens, issuer } = ai
  const { address, resource } = requesterOf(x)
  return gate.check(token, x.client.lastToken, { tokens, hasIssuer: Boolean(issuer), address, resource })
}

export function requesterOf(x: Exchange): Requester {
  return { address: x.clientAddress, resource: () => resourceFor(x) }
}

/** Lets MCP clients find the issuer of a gate. */
function withMetadata(x: Exchange, outcome: MaybeAtOnce<Outcome>): MaybeAtOnce<Outcome> {
  if (outcome instanceof Promise) return outcome.then(settled => withMetadata(x, settled))
  if ('changes' in outcome || outcome.challenge === null) return outcome
  const error = errors.get(outcome.kind) ?? null
  return { ...outcome, challenge: challengeOf({ resource: describedResource(x), scope: null, error }) }
}

const errors: ReadonlyMap<GateFault['kind'], 'invalid_token' | 'insufficient_scope'> = new Map([
  ['invalid', 'invalid_token'],
  ['insufficient', 'insufficient_scope'],
])

/** Returns the URL of the route if there is metadata of it. */
export function describedResource(x: Exchange): URL | null {
  const resource = resourceFor(x)
  const described = resource === null ? undefined : x.zone!.resources?.get(resource.pathname)
  if (described === undefined) return null
  return described.issuers.length > 0 || (described.isOurs && x.plane.ai?.issuer) ? resource : null
}

/** The URL of the route as the client reaches it. */
function resourceFor(x: Exchange): URL | null {
  const origin = publicOriginInZone(x)
  return origin === null ? null : resourceOf(x.route!)(origin)
}

/** Most clients name a route by one URL. */
const resourceOf = memoizeEach(({ config }: EdgeRoute) =>
  memoizeLast((origin: string) => resourceAt(origin, config.path)),
)

const withoutTokens: GateFault = {
  kind: 'unavailable',
  cause: { code: 'GH_TOKEN_STORE_MISSING' },
  wait: 0,
  challenge: null,
}

/**
 * A question must not come back, or bring somebody a credential of ours. One that is for another gate of the
 * route is left out of it.
 */
function refuseToAsk(x: Exchange, gates: readonly Gate[]): Refusal | null {
  if (hasPassedHere(x)) return refuse('dns_loop')
  return gates.some(({ kind }) => kind === 'token') ? withholdOthers(x) : withholdCredentials(x)
}

/** Null for none; an empty one is never valid. */
function tokenIn({ fields, ids }: RequestHead): string | null {
  const at = ids.indexOf(field.authorization)
  if (at === -1) return null
  if (ids.includes(field.authorization, at + 1)) return ''
  const value = fields[2 * at + 1]!
  return isBearer.test(value) ? (token68Of(value) ?? '') : null
}

const isBearer = /^bearer(?:[ \t]|$)/i

/** Requests of a connection mostly have the same lines. */
function passesAgain(x: Exchange, gates: readonly Gate[]): boolean {
  const { passage } = x.client.last
  if (passage === null || passage.gates !== gates || passage.head.fields !== x.head.fields) return false
  // A target may name another host of the zone than the lines, for which the credential may not be.
  if (passage.head.host !== x.head.host) return false
  if (!passage.admission.isCurrent()) return false
  note(x, passage.gate, passage.admission)
  x.admission = passage.admission
  if (passage.outgoing === passage.head) return true
  if (passage.head !== x.head) x.outgoing = withLinesOf(passage.outgoing, x.head)
  else x.outgoing = x.head.isRepeated ? passage.outgoing.repeated() : passage.outgoing
  return true
}

function withLinesOf(outgoing: RequestHead, head: RequestHead): RequestHead {
  const { hopByHop } = outgoing
  const own: RequestHead = Object.assign(new RequestHead(), head)
  own.takeLines(outgoing)
  // The target may have named another host than the lines.
  return Object.assign(own, { hopByHop, host: head.host })
}

function pass(x: Exchange, gates: readonly Gate[], gate: Gate, admission: Admission): null {
  const { head } = x
  const outgoing = outgoingFor(head, admission)
  x.admission = admission
  x.outgoing = outgoing
  x.client.last.passage = { head, gates, gate, admission, outgoing }
  return null
}

/** An origin may read who it is from on an open path, too. */
function admitStranger(x: Exchange, admission: Admission): null {
  x.admission = admission
  x.outgoing = outgoingFor(x.head, admission)
  return null
}

/** The head itself if nothing changes. */
function outgoingFor(head: RequestHead, { changes }: Admission): RequestHead {
  return changes.changesNothingIn(head.fields) ? head : head.withLines(changes.applyTo(head))
}

function refuseFor(x: Exchange, faults: readonly GateFault[]): Refusal | 'responded' {
  const { kind, cause, wait, relayed, wording } = worst(faults)
  if (kind === 'unavailable')
    return refuse(
      'service_unavailable',
      { wording: uncheckable, ...(wait > 0 && { retryAfter: wait }) },
      cause,
    )
  const challenges = new Set(faults.map(({ challenge }) => challenge))
  if (relayed === undefined || relayed.status === 401)
    for (const challenge of challenges)
      if (challenge !== null) x.addedLines += `WWW-Authenticate: ${challenge}\r\n`
  if (relayed !== undefined) return relay(x, relayed)
  if (kind === 'insufficient') return refuse('forbidden', { wording: wording ?? notEnough }, cause)
  if (faults.some(fault => fault.leadsToSignIn) && isNavigation(x)) return leadToSignIn(x)
  return refuse(
    'unauthorized',
    { wording: wording ?? (kind === 'missing' ? missing(challenges) : invalid) },
    cause,
  )
}

/** Clients that know RFC 9728 can get a token by themselves. */
function missing(challenges: ReadonlySet<string | null>): typeof without {
  for (const challenge of challenges) if (challenge?.includes('resource_metadata=')) return withoutAccessToken
  return without
}

/** What is closest to being let in: a retry, a response that says how, or more rights would do. */
function worst(faults: readonly GateFault[]): GateFault {
  const kinds = ['unavailable', 'refused', 'insufficient', 'invalid', 'missing'] as const
  const kind = kinds.find(kind => faults.some(fault => fault.kind === kind))
  return faults.find(fault => fault.kind === kind)!
}

const without = {
  heading: 'This needs a token',
  detail: 'The operator of the site admits only requests with a token here, and yours came without one.',
  guidance:
    '**Do not retry.** Send the token that you were given as Authorization: Bearer TOKEN. If you have none, request one from the operator of the site.',
}

const withoutAccessToken = {
  ...without,
  guidance:
    '**Do not retry.** Send an access token as Authorization: Bearer TOKEN. If you have none, the URL in resource_metadata of WWW-Authenticate says where to get one.',
}

const invalid = {
  heading: 'This token is not valid here',
  detail:
    'The operator of the site admits only requests with a valid token here. Yours has expired, or was not issued for this site, or is damaged.',
  guidance:
    '**Do not retry.** Get a new token where you got this one, and send it as Authorization: Bearer TOKEN.',
}

const notEnough = {
  heading: 'This token does not allow this',
  detail: 'Your token is valid, but the operator of the site requires more of a token than yours has.',
  guidance: '**Do not retry.** Get a token with more rights, or request them from the operator of the site.',
}

const uncheckable = {
  heading: 'Your request cannot be checked right now',
  detail:
    'The operator of the site admits only requests that were checked here, and the service that this takes does not respond, so the gateway cannot tell whether yours may pass. It was not forwarded.',
  guidance: '**Wait and retry.** Try again no sooner than {retry_after} s from now.',
}
