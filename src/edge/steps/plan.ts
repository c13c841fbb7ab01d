// Which origin a request goes to.

import { refuse } from '../../errors/catalogue/refusal.ts'
import { planAi } from '../ai/plan-ai.ts'
import { ambiguousPath, refuseAmbiguousPath } from '../../errors/catalogue/ambiguous-path.ts'
import { sentFactsOf } from '../exchange/facts.ts'
import type { Decided, Exchange } from '../exchange/exchange.ts'
import { pickMemberOf } from '../exchange/mcp-session.ts'

/** Refuses a route without origins (1004) or without healthy ones (1033), a session that is gone (404). */
export function plan(x: Exchange): Decided {
  if (x.ai !== null) return planAi(x, x.ai)
  const { pool, rewrite } = x.route!
  if (pool.members.length === 0) return refuse('dns_resolution_error')
  const refusal = rewrite === null ? null : rewrite.begin(x, sentFactsOf(x), x.snapshot.limits)
  if (refusal !== null) return refusal === ambiguousPath ? refuseAmbiguousPath(x) : refusal
  if (x.mcp !== null && x.mcp.session !== null) return pickMemberOf(x, x.mcp, x.mcp.session)
  const { pinned } = x.client
  // A client that is authenticated on its connection to a member stays with it.
  x.member =
    pinned === null ? pool.pick(x) : pool.pickBound(x, origin => pinned.leadsTo(origin, x.clientAddress))
  return x.member === null ? refuse('tunnel_error', { retryAfter: pool.secondsUntilHope }) : null
}
