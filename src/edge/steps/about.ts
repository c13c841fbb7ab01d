// The documentation of an error, at /cdn-cgi/error/{code}/about on every host that reaches the gateway: the
// `type` of an error record links there. Nothing depends on the client, so that one that is refused
// everything else can read it too.

import { aboutError } from '../../errors/docs/document.ts'
import { errorsPrefix } from '../../errors/catalogue/problem.ts'
import { linesOf } from '../../errors/audience/response-head.ts'
import { withoutQuery } from '../../base/path/path.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { ownStatusLines } from '../exchange/status-lines.ts'

const end = '/about'

/** Responds to a GET or HEAD for the page about an error; returns whether it did. */
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
