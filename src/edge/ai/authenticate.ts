// Verifies the token of an AI call in memory; a refusal leaves only a count. While the store is unreachable,
// cached tokens and gateways stay valid for `store.grace`; others are refused with 503.

import { memoizeLast } from '../../base/memo.ts'
import { equalsIgnoreCase } from '../../http1/fields/fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { RefuseReason } from '../../metrics/counters/ai-metrics.ts'
import type { AiTarget } from '../../ai/target.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { placeInField, valueHoldsOurs } from '../../tokens/misplaced-tokens.ts'
import type { MaybeAtOnce } from '../../store/contract/store.ts'
import type { Token } from '../../store/records/records.ts'
import type { PolicedGateway } from '../../store/records/policy.ts'
import { permits } from '../../permissions/permit.ts'
import type { TokenFault } from '../../tokens/verify.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { challengeFor, runScope } from './metadata.ts'
import { bearerField, presentedToken, repeated } from '../ai-call/request-fields.ts'
import { refuseGateway } from './token-limits.ts'
import { withholdCredentials } from '../exchange/gateway-credentials.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'

/**
 * Refuses a credential of this gateway that would be forwarded (400) or that only the other kind of route
 * reads (400), no valid token (401), no permission (403), an unknown gateway (404), an unreachable store
 * (503). Waits for the store if nothing is cached.
 */
export function authenticate(x: Exchange): Verdict {
  const { ai } = x
  if (ai === null) return withholdCredentials(x)
  if (ai.misplacedAt !== null) return deny(x, ai, 'misplaced')
  return ai.account === null ? locateAccount(x, ai) : locateGateway(x, ai, ai.account, null)
}

type Verified = Token | TokenFault

function locateGateway(x: Exchange, ai: AiExchange, account: string, token: Verified | null): Verdict {
  ai.account = account
  const id = gatewayIdOf(ai)
  const gateway = id === repeated ? null : x.plane.ai!.gateways.find(account, id)
  return gateway instanceof Promise
    ? gateway.then(gateway => authenticateFor(x, ai, gateway, token))
    : authenticateFor(x, ai, gateway, token)
}

function gatewayIdOf({ target, fields }: AiExchange): string | typeof repeated {
  return target.api === 'rest' ? (fields.gatewayId ?? 'default') : target.gateway
}

/** `verified` is null unless the token had to come first. */
function authenticateFor(
  x: Exchange,
  ai: AiExchange,
  gateway: PolicedGateway | null | 'store_unreachable',
  verified: Verified | null,
): Verdict {
  if (gateway === 'store_unreachable') return deny(x, ai, 'store_unreachable')
  ai.namedGateway = gateway
  if (gateway !== null && !gateway.authentication) return grant(x, ai, gateway, null)
  const token = verified ?? verify(x, ai)
  return token instanceof Promise
    ? token.then(token => decide(x, ai, gateway, token))
    : decide(x, ai, gateway, token)
}

function verify(x: Exchange, { target, fields }: AiExchange): MaybeAtOnce<Verified> {
  const value = presentedToken(target, fields)
  return x.plane.ai!.tokens.verify(value, x.clientAddress, 'ai', x.client.lastToken)
}

/** On a short route, the token says which account is meant. */
function locateAccount(x: Exchange, ai: AiExchange): Verdict {
  const token = verify(x, ai)
  return token instanceof Promise ? token.then(token => locateFor(x, ai, token)) : locateFor(x, ai, token)
}

function locateFor(x: Exchange, ai: AiExchange, token: Verified): Verdict {
  if (typeof token !== 'string') return locateGateway(x, ai, token.account, token)
  // A token that is no longer valid must not become a call for another account.
  if (!isWithoutToken(ai)) return decide(x, ai, null, token)
  const account = x.snapshot.ai!.defaultAccount ?? x.plane.ai!.gateways.onlyAccount()
  return account instanceof Promise
    ? account.then(account => locateWithout(x, ai, account, token))
    : locateWithout(x, ai, account, token)
}

/** Many SDKs do not start without some key, and send anything. */
function isWithoutToken({ target, fields }: AiExchange): boolean {
  const value = presentedToken(target, fields)
  return value === null || (value !== '' && !value.startsWith('svc'))
}

function locateWithout(
  x: Exchange,
  ai: AiExchange,
  account: string | null | 'store_unreachable',
  token: TokenFault,
): Verdict {
  if (account === 'store_unreachable') return deny(x, ai, account)
  if (account !== null) return locateGateway(x, ai, account, token)
  ai.challenge = challengeFor(x, null)
  deny(x, ai, token)
  return noAccount
}

function decide(
  x: Exchange,
  ai: AiExchange,
  gateway: PolicedGateway | null,
  token: Token | TokenFault,
): Refusal | null {
  if (typeof token === 'string') {
    if (token !== 'store_unreachable' && isInWrongField(x.head, ai)) return deny(x, ai, 'misplaced')
    if (token !== 'store_unreachable')
      ai.challenge = challengeFor(x, token === 'missing' ? null : 'invalid_token')
    return deny(x, ai, token)
  }
  if (!permits(token, 'AI Gateway Run', ai.account!)) {
    const lacksScope = token.actor?.scopes.includes(runScope) === false
    if (lacksScope) ai.challenge = challengeFor(x, 'insufficient_scope')
    return deny(x, ai, 'forbidden')
  }
  const id = gatewayIdOf(ai)
  const beyond = id === repeated ? null : refuseGateway(ai, token, id)
  if (beyond !== null) {
    deny(x, ai, 'forbidden')
    return beyond
  }
  // Checked last, so that only those with permission learn which gateways exist.
  if (gateway !== null) return grant(x, ai, gateway, token)
  return ai.fields.gatewayId === repeated ? repeatedId : noGateway
}

function grant(x: Exchange, ai: AiExchange, gateway: PolicedGateway, token: Token | null): null {
  ai.gateway = gateway
  ai.token = token
  x.plane.metrics.ai.allowed[token === null ? 'authentication_off' : 'authenticated'].inc()
  return null
}

function deny(x: Exchange, ai: AiExchange, reason: RefuseReason): Refusal {
  ai.isDenied = true
  x.plane.metrics.ai.refused[reason].inc()
  if (reason === 'store_unreachable') return storeUnreachable
  if (reason === 'misplaced') return misplacedRefusal(ai)
  return (reason === 'forbidden' ? forbidden : unauthorized)[ai.target.api === 'rest' ? 'rest' : 'native']
}

function misplacedRefusal({ target, misplacedAt }: AiExchange): Refusal {
  return refuseMisplaced(`must not be in ${misplacedAt}: send it as ${fieldOf(target)}: Bearer TOKEN`)
}

/** A program with the wrong header makes the same call again and again. */
const refuseMisplaced = memoizeLast((rule: string) =>
  refuseCall('invalid', 'A credential of this gateway', rule),
)

/**
 * Whether a credential is only where the other kind of route reads it; records the place. Only its form
 * counts, so that callers cannot find out whether it exists.
 */
function isInWrongField({ fields }: RequestHead, ai: AiExchange): boolean {
  const own = bearerField(ai.target, ai.fields)
  let place: string | null = null
  for (let i = 0; i < fields.length; i += 2) {
    if (!valueHoldsOurs(fields[i + 1]!)) continue
    if (equalsIgnoreCase(fields[i]!, own)) return false
    place ??= placeInField(fields[i]!, fields[i + 1]!, false)
  }
  ai.misplacedAt = place
  return place !== null
}

function fieldOf({ api }: AiTarget): string {
  return api === 'rest' ? 'Authorization' : 'svc-aig-authorization'
}

const storeUnreachable = refuse('service_unavailable')
const noAccount = refuseCall(
  'invalid',
  'Authorization',
  'must have a token here, unless there is only one account or ai.default_account names one',
)
const noGateway = refuseCall('no_gateway')
const repeatedId = refuseCall('invalid', 'svc-aig-gateway-id', 'must be given once')
const unauthorized = { rest: refuseCall('unauthorized'), native: refuseCall('native_unauthorized') }
const forbidden = { rest: refuseCall('call_forbidden'), native: refuseCall('native_forbidden') }
