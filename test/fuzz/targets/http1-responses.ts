// Responses of HTTP/1 as a connection to an origin reads them: interim ones, heads, bodies, upgrades.

import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import type { Lease } from '../../../src/edge/origin/lease.ts'
import type { ResponseHandler } from '../../../src/edge/origin/response-handler.ts'
import { ResponseReader } from '../../../src/edge/origin/response-reader.ts'
import type { ResponseHead } from '../../../src/http1/heads/response-head.ts'
import { sameInPieces, type Target } from '../target.ts'

/** Reads what follows a request as a connection does that gets these packets; joins the pieces of a body. */
export function readResponse(
  packets: readonly Buffer[],
  method: string,
  wantsUpgrade: boolean,
): readonly unknown[] {
  const events: unknown[] = []
  let body = ''
  let isBodyless = false
  const describe = (kind: string, head: ResponseHead) => {
    const crossing = head.crossing()
    assert.match(crossing, /^(?:[!#$%&'*+\-.^_`|~\w]+: [\t -~\x80-\xff]*\r\n)*$/)
    assert.match(head.reason, /^[\t -~\x80-\xff]*$/)
    const { status, reason, fields, contentLength, chunked, keepAlive } = head
    events.push([kind, status, reason, fields, contentLength, chunked, keepAlive, crossing])
  }
  const handler = {
    method,
    wantsUpgrade,
    interim: (head: ResponseHead) => describe('interim', head),
    head: (head: ResponseHead, { framing }: { framing: string }) => {
      isBodyless = framing === 'none' && method !== 'HEAD'
      describe('head', head)
    },
    data: (bytes: Buffer) => void (body += bytes.toString('latin1')),
    end: (trailers: readonly string[] | null) => {
      events.push(['end', trailers])
      lease.isHeld = false
    },
    acceptsUpgrade: () => true,
    switchProtocols: (head: ResponseHead) => {
      describe('switch', head)
      return { tunnelData: (bytes: Buffer) => void (body += bytes.toString('latin1')) }
    },
  } as unknown as ResponseHandler
  const owner = {
    // Which flaw of several is seen first depends on the packets.
    fail() {
      events.push('refused')
      lease.isHeld = false
    },
  }
  const lease = { handler, phase: 'wait', hasResponseBegun: false, isHeld: true, tunnel: null }
  const reader = new ResponseReader(owner, { writableLength: 0 } as Socket)
  const ofLease = lease as unknown as Lease
  for (const packet of packets) {
    if (ofLease.tunnel !== null) body += packet.toString('latin1')
    else if (lease.isHeld) reader.read(ofLease, packet)
    else if (isBodyless && events.at(-2) !== undefined && events.at(-1) !== 'refused') {
      // A body that must not be is seen at once if it comes with the head, and else by the idle connection.
      events.splice(-2, 2, 'refused')
    }
  }
  if (lease.isHeld) reader.end(ofLease)
  return [...events, body]
}

export const target: Target = {
  seeds: [
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nKeep-Alive: timeout=5\r\nDate: x\r\n\r\nhello',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\nLink: a\r\n\r\nHTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-A: b\r\n\r\n',
    'HTTP/1.0 404 Not Found\r\nConnection: keep-alive, x\r\nContent-Type: text/event-stream; a\r\n\r\nbody',
    'HTTP/1.1 204 No\r\nWWW-Authenticate: NTLM\r\n\r\n',
    'HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x01a',
    'HTTP/1.1 304 N\r\nContent-Encoding: gzip\r\nPersistent-Auth: true\r\nContent-Length: 5\r\n\r\n',
  ],
  tokens: [
    ...[
      'HTTP/1.1 ',
      'HTTP/1.0 ',
      '200 OK\r\n',
      '204 ',
      '304 ',
      '100 ',
      '101 ',
      '999',
      '\r\n',
      '\r\n\r\n',
      '\r',
      '\n',
      '\0',
    ],
    ...[
      'Content-Length: 5\r\n',
      'Content-Length: 0\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Connection: close\r\n',
      ' ',
      ':',
      ',',
    ],
    ...[
      'Connection: keep-alive\r\n',
      'Upgrade: websocket\r\n',
      'Keep-Alive: timeout=9\r\n',
      'Content-Type: text/event-stream\r\n',
    ],
    ...[
      'WWW-Authenticate: Negotiate\r\n',
      'Proxy-Authenticate: NTLM\r\n',
      'Persistent-Auth: false\r\n',
      'Date: a\r\n',
      'Set-Cookie: a=b\r\n',
    ],
    ...[
      'Content-Encoding: br\r\n',
      'Trailer: a\r\n',
      '0\r\n\r\n',
      '5\r\nhello\r\n',
      ';a="b"',
      'Cache-Control: no-store\r\n',
      'Via: 1.1 a\r\n',
    ],
  ],
  maxLength: 4096,
  covers: ['src/http1/', 'src/edge/origin/response-reader.ts'],
  attempt(input) {
    for (const method of ['GET', 'HEAD'])
      for (const wantsUpgrade of method === 'GET' ? [false, true] : [false])
        sameInPieces(input, packets => readResponse(packets, method, wantsUpgrade))
  },
}
