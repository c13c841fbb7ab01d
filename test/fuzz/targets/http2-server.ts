// Frames of an HTTP/2 client, behind its preface: what they come to, and what is sent back.

import assert from 'node:assert/strict'
import { endOfHead } from '../../../src/http1/fields/field-lines.ts'
import { parseRequestHead, type RequestHead } from '../../../src/http1/heads/request-head.ts'
import { flag, frameType, setting } from '../../../src/http2/frames/frames.ts'
import * as h2 from '../../help/http2.ts'
import { sameInPieces, type Target } from '../target.ts'
import { frameTokens, repairFrames } from '../frames.ts'

/** Reads as a connection does that gets these packets; serves each request at once, or none. */
function read(packets: readonly Buffer[], isServed: boolean): unknown {
  const peer = h2.Peer.greeted(8)
  const frames: h2.Frame[] = []
  const take = () => frames.push(...peer.frames())
  peer.onBegin = ({ stream, fault }) => {
    if (fault !== null) return peer.session.respond(stream, 400, '', true)
    peer.session.readBody(stream)
    if (!isServed) return
    peer.session.respond(stream, 200, 'A: b\r\n', false)
    peer.session.write(stream, Buffer.alloc(100))
    peer.session.end(stream, ['a', 'b'])
  }
  for (const packet of packets) {
    let state = peer.send(packet)
    take()
    for (; state !== 'done'; take()) state = peer.session.readOn(peer.now)
    take()
  }
  assert.equal(peer.fault !== null, h2.codeOf(frames, 0) !== null)
  if (peer.fault !== null) assert.equal(peer.session.streamCount, 0)
  for (const { head, fault } of peer.requests) {
    for (const text of head.fields) assert.match(text, /^[\t -~\x80-\xff]*$/)
    // One that is refused reaches no origin.
    if (fault === null) assert.match(head.target, /^[^\0-\x20\x7f]*$/)
    if (fault === null && head.method !== 'CONNECT') assertSameOverHttp1(head)
  }
  for (const sent of frames) if (sent.type === frameType.headers) peer.fieldsOf(sent)
  return {
    fault: peer.fault,
    code: h2.codeOf(frames, 0),
    requests: peer.requests.map(({ head, fault, body, isOver, trailers, aborted }) => ({
      ...{ method: head.method, target: head.target, host: head.host, fields: withoutKey(head.fields) },
      ...{ fault, aborted },
      // Of one that turns out to be malformed, more or less may have been passed on.
      ...(aborted === null && { body, isOver, trailers }),
    })),
  }
}

/** The key of a WebSocket handshake that stands for an extended CONNECT is random. */
function withoutKey(fields: readonly string[]): readonly string[] {
  return fields.map((value, i) => (fields[i - 1] === 'sec-websocket-key' ? '' : value))
}

/** What is sent on over HTTP/1 must be read as what came. */
function assertSameOverHttp1(head: RequestHead): void {
  const framing = head.contentLength === -1 ? '' : `Content-Length: ${head.contentLength}\r\n`
  const lines = `Host: ${head.host}\r\n${head.crossing()}${framing}`
  const bytes = Buffer.from(`${head.method} ${head.target} HTTP/1.1\r\n${lines}\r\n`, 'latin1')
  const read = parseRequestHead(bytes, 0, endOfHead(bytes, 0), {
    url: 2_000,
    headerSection: 32_768,
    headers: 200,
  })
  assert.ok(typeof read === 'object', String(read))
  assert.deepEqual([read.method, read.target, read.host], [head.method, head.target, head.host])
  assert.equal(read.crossing(), head.crossing())
  assert.equal(read.contentLength, head.contentLength)
}

const { endHeaders, endStream } = flag
const open = h2.headers(1, h2.post, endHeaders)
const connect: h2.Pairs = [[':method', 'CONNECT'], [':protocol', 'websocket'], ...h2.get.slice(1)]

export const target: Target = {
  seeds: [
    h2.headers(1),
    Buffer.concat([open, h2.data(1, 'hello'), h2.headers(1, [['x', 'y']])]),
    Buffer.concat([
      h2.headers(1, h2.get, endStream),
      h2.frame(frameType.continuation, endHeaders, 1, h2.block(['a', 'b'])),
    ]),
    Buffer.concat([
      h2.ping,
      h2.settings([setting.initialWindowSize, 10]),
      h2.headers(1),
      h2.windowUpdate(1, 99),
    ]),
    Buffer.concat([h2.headers(1, connect, endHeaders), h2.data(1, 'x'), h2.rstStream(1)]),
    Buffer.concat([
      h2.headers(3),
      h2.frame(frameType.goAway, 0, 0, Buffer.alloc(8)),
      h2.frame(frameType.priority, 0, 5, Buffer.alloc(5)),
    ]),
    Buffer.concat([
      h2.headers(1, [...h2.post, ['content-length', '5'], ['cookie', 'a=b'], ['te', 'trailers']], endHeaders),
      h2.data(1, '\x02hello\0\0', flag.padded | endStream),
    ]),
  ],
  tokens: frameTokens,
  maxLength: 4096,
  covers: ['src/http2/'],
  repair: repairFrames,
  attempt(input) {
    // What is sent meanwhile depends on when it is taken.
    read([input], true)
    sameInPieces(input, packets => read(packets, false))
  },
}
