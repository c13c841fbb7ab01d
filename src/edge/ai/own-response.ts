// Responds to an AI call with JSON of the gateway's own.

import { safetyHeaders } from '../../errors/audience/safety-headers.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { ownStatusLines } from '../exchange/status-lines.ts'

/** `lines` are further field lines. */
export function respondWithJson(x: Exchange, json: string, lines = ''): 'responded' {
  const body = Buffer.from(json).toString('latin1')
  const content = x.head.method === 'HEAD' ? '' : body
  const about = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nCache-Control: private, no-store\r\n`
  const own = `${lines}svc-ray: ${x.ray}\r\n${x.addedLines}${ownStatusLines(x)}Date: ${x.plane.date()}\r\n`
  x.status = 200
  x.bytesOut = content.length
  x.client.respond(x, { status: 200, reason: 'OK', lines: about + safetyLines + own }, content)
  x.client.finish(x)
  return 'responded'
}

const safetyLines = safetyHeaders.map((part, i) => (i % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('')
