// Whether a failed request is sent to another member of its pool, and whether its failure speaks against the one that had it. Called by `forward-http.ts`.
import type { ErrorName } from '../errors/catalogue.ts'
import type { Exchange } from './exchange.ts'
import type { Failure } from './origin-connection.ts'
import type { EdgeMember } from './pools.ts'

/** Picks the member for another attempt beside those `tried`, to which it adds the present one; null when attempts, members or the budget are at their end. */
export function anotherMember(x: Exchange, tried: EdgeMember[]): EdgeMember | null {
  const { pool } = x.route!
  tried.push(x.member!)
  if (tried.length > pool.mostRetries) return null
  const another = pool.pickAnother(x, tried)
  if (another === null || pool.budget.spend()) return another
  another.health.released(x)
  x.plane.metrics.retryBudgetExhausted.inc()
  return null
}

/** Tells whether a failure is the fault of the origin; not so that of this machine, a queue, where a name leads, and all the time that a client may have taken too. */
export function isFaultOfOrigin(error: ErrorName, { code }: Failure): boolean {
  return error !== 'internal_server_error' && !(code !== undefined && FAULTLESS.has(code))
}

const FAULTLESS: ReadonlySet<string> = new Set([
  'GH_QUEUE_FULL',
  'GH_QUEUE_TIMEOUT',
  'GH_PROHIBITED_ADDRESS',
  'GH_OWN_ADDRESS',
  'GH_TOTAL_TIMEOUT',
])
