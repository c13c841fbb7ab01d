// Finds the AI route of a request on the hosts of `ai.hosts`.

import { memoizeLast } from '../../base/memo.ts'
import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import { negotiateForPrograms } from '../../errors/audience/negotiate.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { isBaseOfCalls, parseAiTarget } from '../../ai/target.ts'
import { allowPages } from './cors.ts'
import { audienceAt, audienceOf } from '../ai-call/audience-of-call.ts'
import { AiExchange } from '../ai-call/ai-exchange.ts'
import { isRead } from '../ai-call/request-fields.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { EdgeAi } from '../snapshot/snapshot.ts'

/** Refuses an unknown path (404), a wrong method (405), a WebSocket on a route without one (426). */
export function locateAi(x: Exchange, ai: EdgeAi): Refusal | null {
  x.route = ai.route
  x.bodyLimit = ai.route.config.bodyLimit
  if (x.asksForPreview || x.asksForMetadata) return null
  if (ai.corsOrigins.length > 0 && allowPages(x, ai.corsOrigins)) return null
  if (x.head.method === 'HEAD' && isBaseOfCalls(x.head.target)) {
    x.isOpening = true
    return null
  }
  const target = targetOf(x.head.target)
  x.audience = target === null ? audienceAt(x.head.target) : audienceOf(target)
  if (target === null) return noRouteFor(x)
  x.ai = new AiExchange(target, x.head, x.client.last)
  // A credential in the method is refused as such.
  if (target.api === 'native' || x.ai.misplacedAt !== null) return null
  if (target.operation === 'models') return isRead(x.head) ? null : onlyRead
  if (x.head.method === 'POST') return null
  return x.upgrade === 'requested' ? noWebSocket : onlyPost
}

const targetOf = memoizeLast(parseAiTarget)

/** Responds to programs in their envelope, and to others with the error record. */
function noRouteFor({ head }: Exchange): Refusal {
  const format = negotiateForPrograms(head.accept)
  return format === 'json' || format === 'problem' ? noRoute : noSuchPage
}

const noSuchPage = refuse('not_found')
const noRoute = refuseCall('no_ai_route')
/** On this status, programs that try a WebSocket first continue without one at once. */
export const noWebSocket = refuseCall('no_web_socket')
const onlyRead = { ...refuseCall('method_not_allowed', 'GET'), allow: 'GET, HEAD' }
const onlyPost = { ...refuseCall('method_not_allowed', 'POST'), allow: 'POST' }
