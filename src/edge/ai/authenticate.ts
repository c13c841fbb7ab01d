// Verifies the token of an AI call in memory; a refusal leaves only a count. While the store is unreachable,
// cached tokens and gateways stay valid for `store.grace`; others are refused with 503.

import { memoizeLast } from '../../base/memo.ts'
import { equalsIgnoreCase } from '../../http1/fields/fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { RefuseReason } from '../../metrics/counters/ai-metrics.ts'
import type { GatewayDirectory } from '../../ai/gateway-directory.ts'
import type { AiTarget } from '../../ai/target.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { bearerOf } from '../../tokens/bearer.ts'
import { placeInField, valueHoldsOurs } from '../../tokens/misplaced-tokens.ts'
import type { Gateway, Token } from '../../store/records/records.ts'
import { permits } from '../../permissions/permit.ts'
import type { TokenFault } from '../../tokens/verify.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { challengeFor, runScope } from './metadata.ts'
import { repeated } from '../ai-call/request-fields.ts'
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
  const gateway = gatewayOf(x, ai)
  return gateway instanceof Promise
    ? gateway.then(gateway => authenticateFor(x, ai, gateway))
    : authenticateFor(x, ai, gateway)
}

function gatewayOf(x: Exchange, { target, fields }: AiExchange): ReturnType<GatewayDirectory['find']> {
  const id = target.api === 'rest' ? (fields.gatewayId ?? 'default') : target.gateway
  if (id === repeated) return null
  return x.plane.ai!.gateways.find(target.account, id)
}

function authenticateFor(
  x: Exchange,
  ai: AiExchange,
  gateway: Gateway | null | 'store_unreachable',
): Verdict {
  if (gateway === 'store_unreachable') return deny(x, ai, 'store_unreachable')
  ai.namedGateway = gateway
  if (gateway !== null && !gateway.authentication) return grant(x, ai, gateway, null)
  const token = x.plane.ai!.tokens.verify(tokenIn(ai), x.clientAddress, 'ai', x.client.lastToken)
  return token instanceof Promise
    ? token.then(token => decide(x, ai, gateway, token))
    : decide(x, ai, gateway, token)
}

function decide(
  x: Exchange,
  ai: AiExchange,
  gateway: Gateway | null,
  token: Token | TokenFault,
): Refusal | null {
  if (typeof token === 'string') {
    if (token !== 'store_unreachable' && isInWrongField(x.head, ai)) return deny(x, ai, 'misplaced')
    if (token !== 'store_unreachable')
      ai.challenge = challengeFor(x, token === 'missing' ? null : 'invalid_token')
    return deny(x, ai, token)
  }
  if (!permits(token, 'AI Gateway Run', ai.target.account)) {
    const lacksScope = token.actor?.scopes.includes(runScope) === false
    if (lacksScope) ai.challenge = challengeFor(x, 'insufficient_scope')
    return deny(x, ai, 'forbidden')
  }
  // Checked last, so that only those with permission learn which gateways exist.
  if (gateway !== null) return grant(x, ai, gateway, token)
  return ai.fields.gatewayId === repeated ? repeatedId : noGateway
}

function grant(x: Exchange, ai: AiExchange, gateway: Gateway, token: Token | null): null {
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
  const own = fieldOf(ai.target).toLowerCase()
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

function tokenIn({ target, fields }: AiExchange): string | null {
  const field = target.api === 'rest' ? fields.authorization : fields.gatewayAuthorization
  // With two it is unclear which one counts, so neither does.
  return field === repeated ? '' : bearerOf(field)
}

const storeUnreachable = refuse('service_unavailable')
const noGateway = refuseCall('no_gateway')
const repeatedId = refuseCall('invalid', 'svc-aig-gateway-id', 'must be given once')
const unauthorized = { rest: refuseCall('unauthorized'), native: refuseCall('native_unauthorized') }
const forbidden = { rest: refuseCall('call_forbidden'), native: refuseCall('native_forbidden') }
