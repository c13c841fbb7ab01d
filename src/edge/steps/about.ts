// The page about an error, to which the `type` of an error record links, on every host. Nothing depends on
// the client, so that one that is refused everything else can read it too.

import { aboutError } from '../../errors/docs/document.ts'
import { errorsPrefix } from '../../errors/catalogue/problem.ts'
import { linesOf } from '../../errors/audience/response-head.ts'
import { withoutQuery } from '../../base/path/path.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { ownStatusLines } from '../exchange/status-lines.ts'

const end = '/about'

/** Returns whether the request was for such a page. */
export function respondWithAbout(x: Exchange): boolean {
  const { method, accept } = x.head
  const path = withoutQuery(x.head.target)
  if (!path.startsWith(errorsPrefix) || !path.endsWith(end)) return false
  if (method !== 'GET' && method !== 'HEAD') return false
  const response = aboutError(path.slice(errorsPrefix.length, -end.length), accept)
  if (response === null) return false
  const { status, reason, headers } = response
  const body = method === 'HEAD' ? '' : response.body
  x.status = status
  x.bytesOut = body.length
  const lines = `${linesOf(headers)}svc-ray: ${x.ray}\r\n${ownStatusLines(x)}Date: ${x.plane.date()}\r\n`
  x.client.respond(x, { status, reason, lines }, body)
  x.client.finish(x)
  return true
}
