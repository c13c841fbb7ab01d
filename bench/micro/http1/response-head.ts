// Measures what a response head costs, in ns: found, parsed with its framing, and written for the client: node bench/micro/http1/response-head.ts
import { endOfHead } from '../../../src/http1/fields/field-lines.ts'
import { parseResponseHead, responseBody } from '../../../src/http1/heads/response-head.ts'
import { report } from './head-cost.ts'

const api = [
  'HTTP/1.1 200 OK',
  'Content-Type: application/json',
  'Content-Length: 244',
  'Date: Thu, 20 Nov 2025 16:00:00 GMT',
  'Connection: keep-alive',
]

const site = [
  'HTTP/1.1 200 OK',
  'Server: nginx/1.28.0',
  'Date: Thu, 20 Nov 2025 16:00:00 GMT',
  'Content-Type: text/html; charset=utf-8',
  'Transfer-Encoding: chunked',
  'Connection: keep-alive',
  'Keep-Alive: timeout=75',
  'Vary: Accept-Encoding',
  'Cache-Control: private, max-age=0, must-revalidate',
  'Set-Cookie: session=9f86d081884c7d659a2feaa0c55ad015; Path=/; HttpOnly; Secure; SameSite=Lax',
  'Set-Cookie: theme=dark; Path=/; Max-Age=31536000',
  'Content-Encoding: gzip',
  'Strict-Transport-Security: max-age=31536000; includeSubDomains',
  'X-Content-Type-Options: nosniff',
  'X-Request-Id: 5f0c9b1e7d3a',
]

report('api, 4 fields', api, parse)
report('site, 14 fields', site, parse)

function parse(bytes: Buffer) {
  const head = parseResponseHead(bytes, 0, endOfHead(bytes, 0))
  if (typeof head === 'string' || typeof responseBody(head, 'GET') === 'string') throw new Error('refused')
  return head
}
