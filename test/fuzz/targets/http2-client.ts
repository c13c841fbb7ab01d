// Frames of an HTTP/2 origin: what becomes of two requests that wait for it.

import assert from 'node:assert/strict'
import type { ResponseHead } from '../../../src/http1/heads/response-head.ts'
import { ClientSession } from '../../../src/http2/client/session.ts'
import { flag, frameType, setting } from '../../../src/http2/frames/frames.ts'
import * as h2 from '../../help/http2.ts'
import { frameTokens, repairFrames } from '../frames.ts'
import { sameInPieces, type Target } from '../target.ts'

/** Asks for two things, and reads packets of the origin. */
function read(packets: readonly Buffer[]): unknown {
  let fault: string | null = null
  const owner = { mayFlush() {}, changed() {}, broken: (cause: string) => void (fault = cause) }
  const session = new ClientSession(owner, 10, 0)
  if (!session.receive(h2.settings())) while (!session.readOn());
  session.receive(h2.settingsAck)
  const responses = ['GET', 'HEAD'].map(method => ask(session, method))
  for (const packet of packets) {
    if (!session.receive(packet)) while (!session.readOn());
    session.take()
  }
  for (const { events } of responses) assertOneEnd(events.map(([kind]) => kind as string))
  return { fault, responses }
}

function ask(session: ClientSession, method: string) {
  const response = { events: [] as [string, unknown][], body: '' }
  const note = (kind: string, value: unknown) => void response.events.push([kind, value])
  const describe = (head: ResponseHead) => {
    assert.match(head.crossing(), /^(?:[!#$%&'*+\-.^_`|~\w]+: [\t -~\x80-\xff]*\r\n)*$/)
    return [head.status, head.fields, head.contentLength]
  }
  const user = {
    method,
    interim: (head: ResponseHead) => note('interim', describe(head)),
    head: (head: ResponseHead) => note('head', describe(head)),
    data: (bytes: Buffer) => void (response.body += bytes.toString('latin1')),
    flush() {},
    end: (trailers: readonly string[] | null) => note('end', trailers),
    drained() {},
    failed: (fault: string) => note('failed', fault),
  }
  session.open(user, { method, scheme: 'https', authority: 'a.test', target: '/x', lines: '' }, true)
  return response
}

function assertOneEnd(kinds: readonly string[]): void {
  const end = kinds.findIndex(kind => kind === 'end' || kind === 'failed')
  assert.ok(end === -1 || end === kinds.length - 1, 'nothing follows the end')
  assert.ok(kinds.filter(kind => kind === 'head').length <= 1, 'one head')
}

const { endHeaders, endStream } = flag
const begun: h2.Pairs = [[':status', '200']]

export const target: Target = {
  seeds: [
    Buffer.concat([
      h2.headers(1, [[':status', '103']], endHeaders),
      h2.headers(1, begun, endHeaders),
      h2.data(1, 'hello'),
      h2.headers(1, [['x', 'y']]),
    ]),
    Buffer.concat([
      h2.headers(1, [...begun, ['content-length', '5']], endHeaders),
      h2.data(1, 'hello', endStream),
      h2.headers(3, begun),
    ]),
    Buffer.concat([
      h2.rstStream(1, 7),
      h2.rstStream(3, 13),
      h2.ping,
      h2.settings([setting.maxConcurrentStreams, 1]),
    ]),
    Buffer.concat([
      h2.frame(frameType.goAway, 0, 0, Buffer.concat([h2.uint32(1), h2.uint32(0)])),
      h2.headers(1, begun),
    ]),
    Buffer.concat([
      h2.headers(1, begun, endStream),
      h2.frame(frameType.continuation, endHeaders, 1, h2.block(['a', 'b'])),
      h2.windowUpdate(1, 5),
    ]),
  ],
  tokens: frameTokens,
  maxLength: 4096,
  covers: ['src/http2/'],
  repair: repairFrames,
  attempt: input => sameInPieces(input, read),
}
