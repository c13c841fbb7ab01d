// OPTIONS requests that may pass only so many more hops (RFC 9110 section 7.6.2). TRACE is refused anyway.

import { field, firstValue } from '../../http1/fields/fields.ts'
import { RequestHead } from '../../http1/heads/request-head.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { ownStatusLines } from '../exchange/status-lines.ts'
import { HeaderChanges } from '../rewrite/headers.ts'

const name = 'Max-Forwards'
const names: ReadonlySet<string> = new Set([name.toLowerCase()])

/** Responds with 204 in place of the origin if no hop is left; else the origin gets one less. */
export function countHop(x: Exchange): 'responded' | null {
  const value = firstValue(x.outgoing.fields, 'max-forwards')
  if (value === null || !/^\d+$/.test(value)) return null
  const left = Math.min(Number(value), Number.MAX_SAFE_INTEGER) - 1
  if (left < 0) return respond(x)
  const changes = new HeaderChanges(names, [name, String(left)], [field.other])
  x.outgoing = Object.assign(new RequestHead(), x.outgoing, changes.applyTo(x.outgoing))
  return null
}

function respond(x: Exchange): 'responded' {
  x.status = 204
  const lines = `svc-ray: ${x.ray}\r\n${x.addedLines}${ownStatusLines(x)}Date: ${x.plane.date()}\r\n`
  x.client.respond(x, { status: 204, reason: 'No Content', lines }, '')
  x.client.finish(x)
  return 'responded'
}
