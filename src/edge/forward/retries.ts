// Whether a request goes to the member it is for or to another one, and whether its failure speaks against the one that had it.

import type { Phase } from '../../errors/catalogue/phase.ts'
import { blamesMember, type Failure } from '../../errors/catalogue/origin-failure.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { EdgeMember } from '../origin/pools.ts'

/** Sets out for the member that was picked, or for another one, if it became somebody else's trial while the body of the request came. */
export function setOut(x: Exchange): void {
  const member = x.member!
  if (member.health.begin(x)) return
  const another = x.route!.pool.pickAnother(x, [member])
  if (another === null) return
  x.member = another
  another.health.begin(x)
}

/** Picks the member for another attempt beside those `tried`, to which it adds the present one; null when attempts, members or the budget are at their end. */
export function anotherMember(x: Exchange, tried: EdgeMember[]): EdgeMember | null {
  const { pool } = x.route!
  tried.push(x.member!)
  if (tried.length > pool.mostRetries) return null
  const another = pool.pickAnother(x, tried)
  if (another === null || !isWithinBudget(x)) return null
  another.health.begin(x)
  return another
}

/**
 * Whether a request that its member refused once more is sent again, whatever its method: nothing was done with it (RFC 9113 section 8.7). It goes to another member, or to the same
 * one where there is no other or the pool wants no retries there; as often as that takes, within the budget.
 */
export function sendsRefused(x: Exchange): boolean {
  if (!isWithinBudget(x)) return false
  const { pool } = x.route!
  const another = pool.mostRetries === 0 ? null : pool.pickAnother(x, [x.member!])
  if (another === null) return true
  x.member!.health.released(x)
  x.member = another
  another.health.begin(x)
  return true
}

/**
 * Whether a failure counts against the member that has the request. Once that was sent it may be the cause itself, so that nothing counts against the last member that is healthy:
 * anyone who knows such a request could take down the whole pool. So could anyone by WebSockets, or by credentials, for which origins of HTTP/2 are asked by HTTP/1.1
 * (`needsHttp1`), which they may not speak.
 */
export function isFaultOfMember(x: Exchange, phase: Phase, failure: Failure, needsHttp1: boolean): boolean {
  const isByHttp1 = needsHttp1 && x.origin!.config.transport.http !== '1'
  if (isByHttp1 && phase !== 'resolve' && phase !== 'connect') return false
  return blamesMember(phase, failure) && (!inExchange.has(phase) || x.route!.pool.hasAnother(x.member!))
}

/** Whether a failure that is not held against the member is one of its own as far as anyone can tell: it is counted, and nobody is ejected for it. */
function isFailureOfMember(x: Exchange, phase: Phase, failure: Failure, needsHttp1: boolean): boolean {
  return blamesMember(phase, failure) && !(needsHttp1 && x.origin!.config.transport.http !== '1')
}

/** Counts a failure of the member that has the request, as far as it is its own. */
export function noteFailure(x: Exchange, phase: Phase, failure: Failure, needsHttp1: boolean): void {
  const { health } = x.member!
  if (isFaultOfMember(x, phase, failure, needsHttp1)) health.failed(x)
  else if (isFailureOfMember(x, phase, failure, needsHttp1)) health.failedUnblamed(x)
  else health.released(x)
}

/** Takes note of a response with a status of the server's own failures, which counts against the member where it is to blame, but not against the last one that is healthy. */
export function noteStatus(x: Exchange, isBlamed: boolean): void {
  const { health } = x.member!
  if (!isBlamed) health.answered(x)
  else if (x.route!.pool.hasAnother(x.member!)) health.failed(x)
  else health.failedUnblamed(x)
}

/** Takes a retry out of the budget of the pool; false where there is none left. */
function isWithinBudget(x: Exchange): boolean {
  const { pool } = x.route!
  if (!pool.budget.spend()) {
    x.plane.metrics.retryBudgetExhausted.inc()
    return false
  }
  return true
}

const inExchange: ReadonlySet<Phase> = new Set(['send', 'wait', 'receive'])
