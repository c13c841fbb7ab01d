// Requests of HTTP/1 as a connection reads them: heads, bodies, and what is behind them.

import assert from 'node:assert/strict'
import { HeadReader } from '../../../src/edge/client/head-reader.ts'
import {
  type HeadLimits,
  parseRequestHead,
  type RequestHead,
  requestBody,
} from '../../../src/http1/heads/request-head.ts'
import { sameInPieces, type Target } from '../target.ts'

export interface ReadRequest {
  readonly method: string
  readonly target: string
  readonly minor: number
  readonly fields: readonly string[]
  readonly host: string | null
  /** What is passed on. */
  readonly crossing: string
  readonly body: string
  readonly trailers: readonly string[] | null
  readonly isWhole: boolean
}

/** The requests of a connection, and whether one of them, or its body, is refused. */
export interface ReadConnection {
  readonly requests: readonly ReadRequest[]
  readonly isRefused: boolean
}

const narrow = { url: 256, headerSection: 1024, headers: 16 }

/** Reads as a connection does that gets these packets. */
export function readRequests(packets: readonly Buffer[], limits: HeadLimits = narrow): ReadConnection {
  const heads = new HeadReader()
  const requests: ReadRequest[] = []
  let pending: Buffer = Buffer.alloc(0)
  let request: (ReadRequest & { body: string }) | null = null
  let body: ReturnType<typeof requestBody> | null = null
  const end = () => {
    requests.push({ ...request!, isWhole: true, trailers: body!.trailers })
    body = request = null
  }
  for (const packet of packets) {
    pending = Buffer.concat([pending, packet])
    while (pending.length > 0) {
      if (body === null) {
        const head = heads.read(pending, limits)
        if (head === null) break
        if (typeof head === 'string') return { requests, isRefused: true }
        assertFresh(head, pending, heads.end, limits)
        pending = pending.subarray(heads.end)
        body = requestBody(head)
        request = described(head)
        if (body.done) end()
        continue
      }
      const at = body.next(pending, 0)
      if (body.faulty) return { requests, isRefused: true }
      request!.body += pending.toString('latin1', body.from, body.to)
      pending = pending.subarray(at)
      if (body.done) end()
    }
  }
  if (request !== null) requests.push(request)
  return { requests, isRefused: false }
}

/** A head that resembles the one before it is not parsed again, and must come to the same. */
function assertFresh(head: RequestHead, bytes: Buffer, end: number, limits: HeadLimits): void {
  let start = 0
  while (bytes[start] === 0x0d) start += 2
  const fresh = parseRequestHead(bytes, start, end, limits)
  assert.ok(typeof fresh !== 'string')
  assert.deepEqual(factsOf(head), factsOf(fresh))
}

function factsOf(head: RequestHead): unknown {
  const { keepAlive, hopByHop, upgrade, contentLength, chunked } = head
  return { ...described(head), keepAlive, hopByHop, upgrade, contentLength, chunked }
}

function described(head: RequestHead): ReadRequest & { body: string } {
  const { method, target, minor, fields, host } = head
  return {
    method,
    target,
    minor,
    fields,
    host,
    crossing: head.crossing(),
    body: '',
    trailers: null,
    isWhole: false,
  }
}

function attempt(input: Buffer): void {
  for (const { method, target, fields, trailers, crossing } of readRequests([input]).requests) {
    assert.match(method, /^[!#$%&'*+\-.^_`|~\w]+$/)
    assert.match(target, /^[!-~\x80-\xff]+$/)
    assert.match(crossing, /^(?:[!#$%&'*+\-.^_`|~\w]+: [\t -~\x80-\xff]*\r\n)*$/)
    for (const text of [...fields, ...(trailers ?? [])]) assert.match(text, /^[\t -~\x80-\xff]*$/)
  }
  sameInPieces(input, packets => readRequests(packets))
}

const chunked = 'POST /b HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\nConnection: x-a\r\n\r\n'

export const target: Target = {
  seeds: [
    'GET /a?b=c HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\n\r\n'.repeat(3),
    'POST / HTTP/1.1\r\nhost:a\r\nContent-Length: 5\r\n\r\nhello'.repeat(3),
    `${chunked}5;a="b\\""\r\nhello\r\n0\r\nX-A: b\r\nX-B: c\r\n\r\n`,
    'GET http://a.example/x HTTP/1.1\r\nHost: b\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n',
    'OPTIONS * HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\nX-A: 1\r\n\r\n',
  ],
  tokens: [
    ...[
      '\r\n',
      '\r\n\r\n',
      ' HTTP/1.1\r\n',
      ' HTTP/1.0\r\n',
      'HTTP/2.0',
      ' ',
      '\t',
      ':',
      ',',
      ';',
      '"',
      '\n',
      '\r',
      '\0',
    ],
    ...[
      'GET ',
      'POST ',
      'HEAD ',
      'CONNECT ',
      'OPTIONS ',
      'QUERY ',
      '/',
      '*',
      'http://a/',
      'https://',
      '?',
      '%2f',
      '#',
      '@',
    ],
    ...['Host: a\r\n', 'Host:', 'Content-Length: 5\r\n', 'Content-Length:', 'Transfer-Encoding: chunked\r\n'],
    ...[
      'Transfer-Encoding: gzip, chunked\r\n',
      'chunked',
      'Connection: close\r\n',
      'Connection: keep-alive, x-a\r\n',
    ],
    ...[
      'Connection: Upgrade\r\n',
      'Upgrade: websocket\r\n',
      'Expect: 100-continue\r\n',
      'Trailer: x\r\n',
      'Cookie: a=b\r\n',
    ],
    ...[
      'Content_Length: 1\r\n',
      'Proxy-Authorization: NTLM x\r\n',
      'Authorization: Negotiate\r\n',
      'X-A: b\r\n',
      'TE: trailers\r\n',
    ],
    ...[
      'X-HTTP-Method-Override: PUT\r\n',
      '0\r\n\r\n',
      '5\r\nhello\r\n',
      'FFFFFFFFFF',
      '00000000005',
      ' x\r\n',
    ],
  ],
  maxLength: 4096,
  covers: ['src/http1/', 'src/edge/client/head-reader.ts'],
  attempt,
}
