// Responses to certificate authorities that check over HTTP whether a host is served here.

import type { Exchange } from '../exchange/exchange.ts'
import { ownStatusLines } from '../exchange/status-lines.ts'

const folder = '/.well-known/acme-challenge/'

/** Returns whether it was such a request (RFC 8555 section 8.3). */
export function respondToChallenge(x: Exchange): boolean {
  const { challenges } = x.snapshot
  if (challenges.isEmpty || !x.head.target.startsWith(folder)) return false
  const { method, target } = x.head
  if (method !== 'GET' && method !== 'HEAD') return false
  const response = challenges.responseTo(x.host, target.slice(folder.length))
  if (response === null) return false
  x.status = 200
  const lines = `Content-Type: application/octet-stream\r\nContent-Length: ${response.length}\r\nCache-Control: no-store\r\nsvc-ray: ${x.ray}\r\n${ownStatusLines(x)}Date: ${x.plane.date()}\r\n`
  x.client.respond(x, { status: 200, reason: 'OK', lines }, method === 'HEAD' ? '' : response)
  x.client.finish(x)
  return true
}
