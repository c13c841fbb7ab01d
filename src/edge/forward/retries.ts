// Picks the member of the pool for each attempt, and counts its failures.

import type { Phase } from '../../errors/catalogue/phase.ts'
import { blamesMember, type Failure } from '../../errors/catalogue/origin-failure.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { EdgeMember } from '../origin/pools.ts'

/** The member may have been ejected while the body of the request came. */
export function beginAtMember(x: Exchange): void {
  const member = x.member!
  if (member.health.begin(x) || isBound(x)) return
  const another = x.route!.pool.pickAnother(x, [member])
  if (another === null) return
  x.member = another
  another.health.begin(x)
}

/** Picks a member that is not in `tried`; null when attempts, members or budget are exhausted. */
export function pickAnotherMember(x: Exchange, tried: EdgeMember[]): EdgeMember | null {
  const { pool } = x.route!
  tried.push(x.member!)
  if (tried.length > pool.maxRetries || isBound(x)) return null
  const another = pool.pickAnother(x, tried)
  if (another === null || !isWithinBudget(x)) return null
  another.health.begin(x)
  return another
}

/**
 * The member has not processed the request (RFC 9113 section 8.7). It is tried again if there is no other;
 * false when the retry budget is exhausted.
 */
export function retryRefused(x: Exchange): boolean {
  if (!isWithinBudget(x)) return false
  const { pool } = x.route!
  const another = pool.maxRetries === 0 || isBound(x) ? null : pool.pickAnother(x, [x.member!])
  if (another === null) return true
  x.member!.health.released(x)
  x.member = another
  another.health.begin(x)
  return true
}

/**
 * A request that was sent may be the cause itself, so it never ejects the last healthy member. Nor does
 * HTTP/1.1 (`needsHttp1`) at HTTP/2 origins, which may not speak it.
 */
export function isFaultOfMember(x: Exchange, phase: Phase, failure: Failure, needsHttp1: boolean): boolean {
  const isByHttp1 = needsHttp1 && x.origin!.config.transport.http !== '1'
  if (isByHttp1 && phase !== 'resolve' && phase !== 'connect') return false
  return blamesMember(phase, failure) && (!inExchange.has(phase) || x.route!.pool.hasAnother(x.member!))
}

function isFailureOfMember(x: Exchange, phase: Phase, failure: Failure, needsHttp1: boolean): boolean {
  return blamesMember(phase, failure) && !(needsHttp1 && x.origin!.config.transport.http !== '1')
}

export function noteFailure(x: Exchange, phase: Phase, failure: Failure, needsHttp1: boolean): void {
  const { health } = x.member!
  if (isFaultOfMember(x, phase, failure, needsHttp1)) health.failed(x)
  else if (isFailureOfMember(x, phase, failure, needsHttp1)) health.failedUnblamed(x)
  else health.released(x)
}

/** Notes a status of 500 or more; if it is to blame, against the member. */
export function noteStatus(x: Exchange, isBlamed: boolean): void {
  const { health } = x.member!
  if (!isBlamed) health.responded(x)
  else if (x.route!.pool.hasAnother(x.member!)) health.failed(x)
  else health.failedUnblamed(x)
}

/** Another member does not know its session. */
function isBound({ mcp }: Exchange): boolean {
  return mcp?.isBound === true
}

function isWithinBudget(x: Exchange): boolean {
  const { pool } = x.route!
  if (!pool.budget.spend()) {
    x.plane.metrics.retryBudgetExhausted.inc()
    return false
  }
  return true
}

const inExchange: ReadonlySet<Phase> = new Set(['send', 'wait', 'receive'])
