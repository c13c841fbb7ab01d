// A session of HTTP/2 in the role of the client, without a socket: frames in and out by hand.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ResponseHead } from '../../../src/http1/heads/response-head.ts'
import { ClientSession } from '../../../src/http2/client/session.ts'
import type { SessionFault } from '../../../src/http2/client/session-fault.ts'
import type { ClientStream, StreamFault, StreamUser } from '../../../src/http2/client/stream.ts'
import { errorCode, flag, frameType, setting } from '../../../src/http2/frames/frames.ts'
import { type HeaderField, HpackDecoder } from '../../../src/http2/hpack/decoder.ts'
import {
  codeOf,
  data,
  type Frame,
  frame,
  framesOf,
  headers,
  ping,
  preface,
  rstStream,
  settings,
  settingsAck,
  uint32,
  windowUpdate,
} from '../../help/http2.ts'

const begun = [[':status', '200']] as const
const goAway = (last: number, code: number = errorCode.none) =>
  frame(frameType.goAway, 0, 0, Buffer.concat([uint32(last), uint32(code)]))

/** A response as its user saw it. */
class Response implements StreamUser {
  readonly method: string
  readonly interims: number[] = []
  status = 0
  hasBody = false
  /** What its head says of the length of its body. */
  length = -1
  neverIndexed = false
  body = ''
  pieces = 0
  flushes = 0
  isWhole = false
  trailers: readonly string[] | null = null
  fault: StreamFault | null = null
  drains = 0
  stream: ClientStream | null = null

  constructor(method: string) {
    this.method = method
  }

  interim({ status }: ResponseHead): void {
    this.interims.push(status)
  }

  head({ status, contentLength, neverIndexed }: ResponseHead, hasBody: boolean): void {
    assert.equal(this.status, 0, 'one head')
    this.status = status
    this.length = contentLength
    this.neverIndexed = neverIndexed
    this.hasBody = hasBody
  }

  data(bytes: Buffer): void {
    assert.notEqual(this.status, 0, 'data behind a head')
    this.body += bytes.toString('latin1')
    this.pieces++
  }

  flush(): void {
    this.flushes++
  }

  end(trailers: readonly string[] | null): void {
    this.#settle()
    this.isWhole = true
    this.trailers = trailers
  }

  drained(): void {
    this.drains++
  }

  failed(fault: StreamFault): void {
    this.#settle()
    this.fault = fault
  }

  #settle(): void {
    assert.ok(!this.isWhole && this.fault === null, 'one end')
  }
}

class Origin {
  readonly session: ClientSession
  fault: SessionFault | null = null
  changes = 0
  flushes = 0
  readonly #decoder = new HpackDecoder()

  constructor(streams = 100) {
    this.session = new ClientSession(this, streams, 0)
  }

  static greeted(streams?: number, ...pairs: readonly (readonly [number, number])[]): Origin {
    const origin = new Origin(streams)
    assert.deepEqual(origin.session.take().subarray(0, preface.length), preface)
    origin.send(settings(...pairs), settingsAck)
    origin.frames()
    return origin
  }

  send(...bytes: readonly Buffer[]): void {
    if (!this.session.receive(Buffer.concat(bytes))) while (!this.session.readOn());
  }

  frames(): Frame[] {
    return framesOf(this.session.take())
  }

  ask(method = 'GET', isWhole = true, lines = ''): Response {
    const user = new Response(method)
    const fields = { method, scheme: 'https', authority: 'a.test', target: '/x', lines } as const
    user.stream = this.session.open(user, fields, isWhole)
    return user
  }

  fieldsOf({ payload }: Frame): [string, string][] {
    const fields: [string, string][] = []
    const sink = { take: ({ name, value }: HeaderField) => void fields.push([name, value]) }
    assert.notEqual(this.#decoder.decode(payload, 0, payload.length, 2 ** 20, sink), -1)
    return fields
  }

  mayFlush(): void {
    this.flushes++
  }

  broken(fault: SessionFault): void {
    this.fault = fault
  }

  changed(): void {
    this.changes++
  }
}

test('a request is a head, and its response comes back with what belongs to it', () => {
  const origin = Origin.greeted()
  const asked = origin.ask('PUT', true, 'X-One: 1\r\nContent-Length: 0\r\n')
  const [head] = origin.frames()
  assert.deepEqual(origin.fieldsOf(head!), [
    [':method', 'PUT'],
    [':scheme', 'https'],
    [':authority', 'a.test'],
    [':path', '/x'],
    ['x-one', '1'],
    ['content-length', '0'],
  ])
  assert.equal(head!.flags, flag.endHeaders | flag.endStream)
  origin.send(
    headers(1, [[':status', '103']], flag.endHeaders),
    headers(1, begun, flag.endHeaders),
    data(1, 'ab'),
    headers(1, [['x-sum', 'q']]),
  )
  const { interims, status, body, isWhole, trailers } = asked
  assert.deepEqual([interims, status, body, isWhole, trailers], [[103], 200, 'ab', true, ['x-sum', 'q']])
  assert.equal(origin.session.size, 0)
})

test('one stream is opened before the origin says how many it takes, and no more than that after', () => {
  const origin = new Origin(10)
  assert.equal(origin.session.room, 1)
  origin.ask()
  assert.equal(origin.session.room, 0)
  origin.send(settings([setting.maxConcurrentStreams, 3]))
  assert.equal(origin.session.room, 2)
  origin.send(settings([setting.maxConcurrentStreams, 30]))
  assert.equal(origin.session.room, 9)
  origin.send(settings([setting.maxConcurrentStreams, 0]))
  assert.equal(origin.session.room, 0)
})

test('a body waits for the window of its stream and that of the connection, and streams take turns', () => {
  const origin = Origin.greeted(10, [setting.initialWindowSize, 20_000])
  const [a, b] = [origin.ask('POST', false), origin.ask('POST', false)]
  assert.equal(origin.session.send(a.stream!, Buffer.alloc(45_000)), false)
  assert.equal(origin.session.send(b.stream!, Buffer.alloc(20_000)), true)
  assert.equal(origin.session.send(b.stream!, Buffer.alloc(5_000)), false)
  origin.session.endRequest(b.stream!, null)
  const sizes = () =>
    origin
      .frames()
      .filter(({ type }) => type === frameType.data)
      .map(({ stream, payload, flags }) => [stream, payload.length, flags])
  assert.deepEqual(sizes(), [
    [1, 16_384, 0],
    [1, 3_616, 0],
    [3, 16_384, 0],
    [3, 3_616, 0],
  ])
  origin.send(windowUpdate(1, 20_000), windowUpdate(3, 20_000))
  assert.deepEqual(sizes(), [
    [1, 16_384, 0],
    [3, 5_000, flag.endStream],
    [1, 3_616, 0],
  ])
  origin.send(windowUpdate(1, 10_000))
  assert.deepEqual(sizes(), [[1, 535, 0]])
  assert.equal(a.drains, 0)
  origin.send(windowUpdate(0, 10_000))
  origin.session.endRequest(a.stream!, 'x-sum: 1\r\n')
  const [rest, trailers] = origin.frames()
  assert.deepEqual([rest!.payload.length, rest!.flags], [4_465, 0])
  assert.deepEqual(origin.fieldsOf(trailers!), [['x-sum', '1']])
  assert.equal(a.drains, 1)
})

test('a window that shrinks below nothing is waited for', () => {
  const origin = Origin.greeted(10, [setting.initialWindowSize, 1_000])
  const a = origin.ask('POST', false)
  origin.session.send(a.stream!, Buffer.alloc(2_000))
  assert.equal(origin.frames().at(-1)!.payload.length, 1_000)
  origin.send(settings([setting.initialWindowSize, 100]), windowUpdate(1, 899))
  assert.deepEqual(
    origin.frames().filter(({ type }) => type === frameType.data),
    [],
  )
  origin.send(windowUpdate(1, 2))
  assert.equal(origin.frames().at(-1)!.payload.length, 1)
})

test('a reader that pauses stops its own stream, and no other', () => {
  const origin = Origin.greeted()
  const [slow, quick] = [origin.ask(), origin.ask()]
  origin.session.pause(slow.stream!)
  origin.send(headers(1, begun, flag.endHeaders), headers(3, begun, flag.endHeaders))
  for (let i = 0; i < 4; i++) origin.send(data(1, 'x'.repeat(16_000)), data(3, 'y'.repeat(16_000)))
  assert.equal(slow.body, '')
  assert.equal(quick.body.length, 64_000)
  const windows = (id: number) =>
    origin.frames().filter(({ type, stream }) => type === frameType.windowUpdate && stream === id)
  assert.deepEqual(windows(1), [])
  for (let i = 0; i < 600; i++) origin.send(data(3, 'y'.repeat(16_000)))
  assert.equal(origin.fault, null)
  origin.send(data(1, 'x'), frame(frameType.data, flag.endStream, 1))
  assert.equal(slow.isWhole, false)
  origin.session.resume(slow.stream!)
  assert.deepEqual([slow.body.length, slow.isWhole], [64_001, true])
})

test('a reader that keeps up gets a larger window', () => {
  const origin = Origin.greeted()
  origin.ask()
  origin.send(headers(1, begun, flag.endHeaders))
  let window = 65_535
  for (let i = 0; i < 2_000 && window >= 16_000; i++) {
    origin.send(data(1, 'x'.repeat(16_000)))
    window -= 16_000
    for (const { type, stream, payload } of origin.frames())
      if (type === frameType.windowUpdate && stream === 1) window += payload.readUInt32BE(0)
  }
  assert.ok(window > 500_000 && window <= 1024 * 1024, `${window}`)
})

test('a request that the origin refuses, or had not seen when it left, is told from one that failed', () => {
  const origin = Origin.greeted()
  const asked = [origin.ask(), origin.ask(), origin.ask(), origin.ask()]
  origin.send(rstStream(1, errorCode.refusedStream), goAway(3, errorCode.enhanceYourCalm))
  assert.deepEqual(
    asked.map(({ fault }) => fault),
    ['refused', null, 'refused', 'refused'],
  )
  assert.ok(origin.session.isLeaving)
  assert.equal(origin.session.room, 0)
  origin.send(headers(3, begun, flag.endHeaders), data(3, 'late', flag.endStream))
  assert.deepEqual([asked[1]!.body, asked[1]!.isWhole], ['late', true])
})

test('a request that the origin takes by HTTP/1.1 alone is told from one that it refused', () => {
  const origin = Origin.greeted()
  const asked = [origin.ask(), origin.ask(), origin.ask()]
  origin.send(rstStream(1, errorCode.http11Required), goAway(3, errorCode.http11Required))
  origin.send(headers(3, begun, flag.endHeaders), rstStream(3, errorCode.http11Required))
  assert.deepEqual(
    asked.map(({ fault }) => fault),
    ['http1_required', 'reset', 'http1_required'],
  )
})

test('a stream that the origin resets is not one that it refused', () => {
  const origin = Origin.greeted()
  const asked = [origin.ask(), origin.ask()]
  origin.send(rstStream(1, errorCode.internal))
  origin.send(headers(3, begun, flag.endHeaders), rstStream(3, errorCode.refusedStream))
  assert.deepEqual(
    asked.map(({ fault }) => fault),
    ['reset', 'reset'],
  )
})

test('a body that is shorter or longer than its length fails its stream alone', () => {
  const origin = Origin.greeted()
  const asked = [origin.ask(), origin.ask(), origin.ask()]
  for (const [id, body] of [
    [1, 'ab'],
    [3, 'abcd'],
    [5, 'abc'],
  ] as const)
    origin.send(
      headers(id, [...begun, ['content-length', '3']], flag.endHeaders),
      data(id, body, flag.endStream),
    )
  assert.deepEqual(
    asked.map(({ fault, isWhole }) => [fault, isWhole]),
    [
      ['bad_framing', false],
      ['bad_framing', false],
      [null, true],
    ],
  )
  assert.equal(origin.fault, null)
  assert.equal(codeOf(origin.frames(), 1), errorCode.protocol)
})

const { endHeaders, endStream, padded } = flag
/** Opens a block that CONTINUATION frames continue. */
const openBlock = frame(frameType.headers, 0, 1, '')
const continued = (size: number) => frame(frameType.continuation, 0, 1, Buffer.alloc(size))

/** Frames behind a request that end the connection, and what with. */
const connectionFaults: Readonly<Record<string, readonly [fault: SessionFault, ...frames: Buffer[]]>> = {
  '4.1: a frame of more than 16,384 bytes': ['frame_size', frame(200, 0, 0, Buffer.alloc(16_385))],
  '4.3: a header block that is none': ['compression', frame(frameType.headers, endHeaders, 1, '\x80')],
  '4.3: trailers that are none': [
    'compression',
    headers(1, begun, endHeaders),
    frame(frameType.headers, endHeaders | endStream, 1, '\x80'),
  ],
  '4.3: a block that is none, behind the end of a response': [
    'compression',
    headers(1, begun),
    frame(frameType.headers, endHeaders, 1, '\x80'),
  ],
  '4.3: a frame within a header block': ['protocol', openBlock, ping],
  '4.3: a block of more than 256 KiB': [
    'head_too_large',
    openBlock,
    ...Array.from({ length: 16 }, () => continued(16_384)),
    continued(1),
  ],
  '4.3: a block in more than 32 frames': [
    'flood',
    openBlock,
    ...Array.from({ length: 32 }, () => continued(0)),
  ],
  '5.1: HEADERS on a stream that was never opened': ['protocol', headers(3, begun)],
  '5.1: HEADERS on a stream with an even number': ['protocol', headers(2, begun)],
  '5.1: DATA on a stream that was never opened': ['protocol', data(3, '')],
  '5.1: DATA on stream 0': ['protocol', data(0, '')],
  '5.1: RST_STREAM on a stream that was never opened': ['protocol', rstStream(3)],
  '5.1: WINDOW_UPDATE on a stream that was never opened': ['protocol', windowUpdate(3, 1)],
  '6.1: DATA without its padding': ['frame_size', headers(1, begun, endHeaders), data(1, '', padded)],
  '6.1: more padding than DATA': ['protocol', headers(1, begun, endHeaders), data(1, '\x01', padded)],
  '6.5.2: SETTINGS_ENABLE_PUSH of 1': ['protocol', settings([setting.enablePush, 1])],
  '6.6: PUSH_PROMISE': ['protocol', frame(frameType.pushPromise, endHeaders, 1, Buffer.alloc(8))],
  '6.9.1: more DATA than the window of a stream': [
    'flow_control',
    headers(1, begun, endHeaders),
    ...Array.from({ length: 4 }, () => data(1, Buffer.alloc(16_384))),
  ],
  '6.9.1: a window of the connection above 2^31-1': ['flow_control', windowUpdate(0, 2 ** 31 - 1)],
}

for (const [what, [fault, ...frames]] of Object.entries(connectionFaults))
  test(`${what} ends the connection`, () => {
    const origin = Origin.greeted()
    const asked = origin.ask()
    origin.session.pause(asked.stream!)
    origin.frames()
    origin.send(...frames)
    assert.equal(origin.fault, fault)
    assert.equal(origin.session.isClosed, true)
    assert.notEqual(codeOf(origin.frames(), 0), null)
    origin.send(headers(1, begun), ping)
    assert.deepEqual(origin.frames(), [])
  })

test('a header block may have 32 frames', () => {
  const origin = Origin.greeted()
  const asked = origin.ask()
  origin.send(
    frame(frameType.headers, endStream, 1, '\x88'),
    ...Array.from({ length: 30 }, () => continued(0)),
  )
  origin.send(frame(frameType.continuation, endHeaders, 1))
  assert.deepEqual([origin.fault, asked.status, asked.isWhole], [null, 200, true])
})

type Fields = Parameters<typeof headers>[1]
/** Each field counts its text and 32 bytes more. */
const large = (size: number): Fields => {
  const rest = size - ':status200'.length - 32 - 2 * 33
  const values = [...Array.from({ length: Math.floor(rest / 153) }, () => 120), (rest % 153) >> 1]
  values.push((rest % 153) - values.at(-1)!)
  return [...begun, ...values.map(length => ['x', 'v'.repeat(length)] as const)]
}
const block = (fields: Fields, flags: number): Buffer => {
  const [{ payload }] = framesOf(headers(1, fields, flags)) as [Frame]
  const parts = Array.from({ length: Math.ceil(payload.length / 16_384) }, (_, i) =>
    payload.subarray(i * 16_384, (i + 1) * 16_384),
  )
  return Buffer.concat(
    parts.map((part, i) => {
      const last = i === parts.length - 1 ? endHeaders : 0
      return frame(
        i === 0 ? frameType.headers : frameType.continuation,
        last | (i === 0 ? flags & endStream : 0),
        1,
        part,
      )
    }),
  )
}

/** Frames that fail their stream alone, and how. */
const streamFaults: Readonly<Record<string, readonly [fault: StreamFault, ...frames: Buffer[]]>> = {
  '8.1: DATA before a head': ['bad_head', data(1, 'x')],
  '8.1: an interim response that ends the stream': ['bad_head', headers(1, [[':status', '103']])],
  '8.1: trailers without the end': [
    'bad_framing',
    headers(1, begun, endHeaders),
    headers(1, [['x', 'y']], endHeaders),
  ],
  '8.1: trailers with a pseudo field': ['bad_framing', headers(1, begun, endHeaders), headers(1, begun)],
  '8.1.1: trailers before the end of the body': [
    'bad_framing',
    headers(1, [...begun, ['content-length', '1']], endHeaders),
    headers(1, [['x', 'y']]),
  ],
  '8.1.1: a length and no body': ['bad_framing', headers(1, [...begun, ['content-length', '1']])],
  '8.1.1: two lengths': [
    'bad_framing',
    headers(1, [...begun, ['content-length', '1'], ['content-length', '2']]),
  ],
  '8.1.1: 204 with a length': [
    'bad_framing',
    headers(
      1,
      [
        [':status', '204'],
        ['content-length', '1'],
      ],
      endHeaders,
    ),
  ],
  '8.1.1: DATA of 204': ['bad_framing', headers(1, [[':status', '204']], endHeaders), data(1, 'x')],
  '8.1.1: DATA of 304': ['bad_framing', headers(1, [[':status', '304']], endHeaders), data(1, 'x')],
  '8.2: a name in upper case': ['bad_head', headers(1, [...begun, ['X', 'y']])],
  '8.2.2: Connection': ['bad_head', headers(1, [...begun, ['connection', 'x']])],
  '8.2.2: Keep-Alive': ['bad_head', headers(1, [...begun, ['keep-alive', 'x']])],
  '8.2.2: Proxy-Connection': ['bad_head', headers(1, [...begun, ['proxy-connection', 'x']])],
  '8.2.2: Transfer-Encoding': ['bad_head', headers(1, [...begun, ['transfer-encoding', 'chunked']])],
  '8.2.2: Upgrade': ['bad_head', headers(1, [...begun, ['upgrade', 'x']])],
  '8.3: a pseudo field of requests': ['bad_head', headers(1, [...begun, [':path', '/']])],
  '8.3: :status behind another field': ['bad_head', headers(1, [['x', 'y'], ...begun])],
  '8.3.2: no :status': ['bad_head', headers(1, [['x', 'y']])],
  '8.3.2: no :status before a body': ['bad_head', headers(1, [['x', 'y']], endHeaders)],
  '8.1.1: two lengths, the last of which is right': [
    'bad_framing',
    headers(1, [...begun, ['content-length', '1'], ['content-length', '2']], endHeaders),
    data(1, 'ab', endStream),
  ],
  '8.3.2: two of :status': ['bad_head', headers(1, [...begun, ...begun])],
  '8.3.2: a :status of two digits': ['bad_head', headers(1, [[':status', '20']])],
  '8.3.2: a :status of 600': ['bad_head', headers(1, [[':status', '600']])],
  '8.6: 101': ['bad_head', headers(1, [[':status', '101']], endHeaders)],
  '10.5.1: a head of more than 64 KiB': ['head_too_large', block(large(64 * 1024 + 1), endStream)],
  '10.5.1: trailers of more than 64 KiB': [
    'head_too_large',
    headers(1, begun, endHeaders),
    block(large(64 * 1024 + 1), endStream),
  ],
}

for (const [what, [fault, ...frames]] of Object.entries(streamFaults))
  test(`${what} fails the stream, and another goes on`, () => {
    const origin = Origin.greeted()
    const [asked, other] = [origin.ask(), origin.ask()]
    origin.frames()
    origin.send(...frames)
    assert.deepEqual([asked.fault, asked.isWhole, origin.fault], [fault, false, null])
    assert.equal(codeOf(origin.frames(), 1), errorCode.protocol)
    origin.send(headers(3, begun))
    assert.equal(other.isWhole, true)
  })

test('a head may have 64 KiB', () => {
  const origin = Origin.greeted()
  const asked = origin.ask()
  origin.send(block(large(64 * 1024), endStream))
  assert.deepEqual([asked.status, asked.fault], [200, null])
})

test('the length of a response without a body is what it says, and nought where one could come', () => {
  for (const [method, status, fields, length, hasBody] of [
    ['GET', '200', [], 0, true],
    ['HEAD', '200', [['content-length', '7']], 7, false],
    ['GET', '304', [['content-length', '7']], 7, false],
    ['GET', '204', [['content-length', '0']], 0, false],
    ['GET', '204', [], -1, false],
  ] as const) {
    const origin = Origin.greeted()
    const asked = origin.ask(method)
    origin.send(headers(1, [[':status', status], ...fields]))
    assert.deepEqual(
      [asked.status, asked.length, asked.hasBody, asked.isWhole],
      [Number(status), length, hasBody, true],
    )
  }
})

test('a head says whether a hop may index its fields', () => {
  for (const first of [0x00, 0x10]) {
    const origin = Origin.greeted()
    const asked = origin.ask()
    const field = Buffer.from([0x88, first, 1, 0x78, 1, 0x79])
    origin.send(frame(frameType.headers, endHeaders | endStream, 1, field))
    assert.equal(asked.neverIndexed, first === 0x10)
  }
})

test('a stream that was cancelled may go on for as long as that takes to arrive', () => {
  const origin = Origin.greeted()
  const asked = origin.ask()
  origin.session.cancel(asked.stream!)
  assert.equal(codeOf(origin.frames(), 1), errorCode.cancel)
  origin.send(headers(1, begun, flag.endHeaders), data(1, 'x'.repeat(16_000)), data(1, 'x'.repeat(16_000)))
  assert.deepEqual([origin.fault, asked.status], [null, 0])
  for (let i = 0; i < 3; i++) origin.send(data(1, 'x'.repeat(16_000)))
  assert.equal(origin.fault, 'flow_control')
})

test('many requests that are cancelled are no fault of the origin', () => {
  const origin = Origin.greeted()
  for (let i = 0; i < 5_000; i++) {
    const stream = origin.ask().stream!
    origin.session.cancel(stream!)
    origin.send(headers(stream!.id, begun, flag.endHeaders), data(stream!.id, 'late', flag.endStream))
  }
  assert.equal(origin.fault, null)
})

test('a connection in doubt opens no stream until the origin shows that it is there, and is given up in the end', () => {
  const origin = Origin.greeted()
  origin.session.tick(2_000)
  origin.session.probe(500)
  assert.equal(origin.session.room, 0)
  assert.equal(origin.frames().at(-1)!.type, frameType.ping)
  origin.send(frame(frameType.ping, flag.ack, 0, '\0\0\0\0\0\0\0\0'))
  assert.equal(origin.session.room, 100)
  origin.session.probe(5_000)
  assert.equal(origin.session.room, 100, 'a moment is no doubt')
  origin.session.tick(20_000)
  origin.session.probe(3_000)
  origin.session.tick(31_000)
  assert.equal(origin.fault, 'silence')
})

test('settings that are never acknowledged are not waited for', () => {
  const origin = new Origin()
  origin.send(settings())
  origin.session.tick(9_999)
  assert.equal(origin.fault, null)
  origin.session.tick(10_000)
  assert.equal(origin.fault, 'silence')
})

test('a PING now and then is always answered', () => {
  const origin = Origin.greeted()
  for (let now = 0; now < 3_600_000; now += 100) {
    origin.session.tick(now)
    origin.send(ping)
    assert.equal(origin.frames().length, 1)
  }
  assert.equal(origin.fault, null)
})

test('padding counts for windows, and only what it pads is read', () => {
  const origin = Origin.greeted()
  const asked = origin.ask()
  origin.send(headers(1, begun, flag.endHeaders))
  for (let i = 0; i < 300; i++)
    origin.send(frame(frameType.data, flag.padded, 1, `\xff${'a'.repeat(10)}${'\0'.repeat(255)}`))
  assert.equal(asked.body, 'a'.repeat(3_000))
  assert.equal(origin.fault, null)
  origin.send(frame(frameType.data, flag.padded, 1, '\x05abc'))
  assert.equal(origin.fault, 'protocol')
})

const conversation = Buffer.concat([
  settings([setting.maxConcurrentStreams, 50]),
  settingsAck,
  ping,
  headers(1, [[':status', '103']], flag.endHeaders),
  headers(3, [...begun, ['content-length', '3']], 0),
  frame(frameType.continuation, flag.endHeaders, 3),
  headers(1, begun, flag.endHeaders),
  data(1, 'one '),
  frame(frameType.data, flag.padded, 3, '\x02abc\0\0'),
  data(1, 'two'),
  headers(1, [['x-sum', '1']]),
  frame(frameType.data, flag.endStream, 3),
])

test('a conversation is the same however it is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), cuts => {
      const origin = new Origin()
      origin.send(settings())
      const asked = [origin.ask(), origin.ask()]
      for (let at = 0, i = 0; at < conversation.length; i++) {
        const to = at + cuts[i % cuts.length]!
        origin.session.receive(conversation.subarray(at, to))
        at = to
      }
      assert.equal(origin.fault, null)
      assert.deepEqual(
        asked.map(({ body }) => body),
        ['one two', 'abc'],
      )
      assert.ok(asked.every(({ isWhole }) => isWhole))
    }),
  )
})

test('whatever bytes come, each request has one end at most and nothing throws', () => {
  const anyFrame = fc
    .tuple(
      fc.integer({ min: 0, max: 10 }),
      fc.integer({ min: 0, max: 255 }),
      fc.integer({ min: 0, max: 9 }),
      fc.uint8Array({ maxLength: 24 }),
    )
    .map(([type, flags, id, payload]) => frame(type, flags, id, Buffer.from(payload)))
  const likelyFrame = fc.oneof(
    fc.constantFrom(
      ...[1, 3, 5].flatMap(id => [
        headers(id, begun, flag.endHeaders),
        headers(id, begun),
        data(id, 'x'),
        data(id, 'x', 1),
        rstStream(id),
      ]),
    ),
    fc.constantFrom(goAway(1), windowUpdate(0, 5), windowUpdate(1, 5), ping, settings()),
    anyFrame,
  )
  fc.assert(
    fc.property(fc.array(likelyFrame, { maxLength: 30 }), frames => {
      const origin = Origin.greeted()
      const asked = [origin.ask(), origin.ask('HEAD'), origin.ask('POST', false)]
      origin.session.send(asked[2]!.stream!, Buffer.alloc(10))
      for (const bytes of frames) {
        if (origin.fault !== null) break
        origin.send(bytes)
        origin.frames()
      }
      assert.equal(asked[1]!.body, '')
    }),
    { numRuns: 500 },
  )
})

test('padding is given back half a window at a time: an origin that reads nothing fills no memory with updates', () => {
  const origin = Origin.greeted()
  const stream = origin.ask().stream!
  origin.frames()
  origin.send(headers(stream.id, [[':status', '200']], flag.endHeaders))
  const padded = data(stream.id, '\x01x\0', flag.padded)
  for (let i = 0; i < 20_000; i++) origin.send(padded)
  const updates = origin
    .frames()
    .filter(({ type, stream }) => type === frameType.windowUpdate && stream !== 0)
  assert.ok(updates.length > 0 && updates.length <= 2, String(updates.length))
  assert.equal(origin.fault, null)
})

test('an origin may send 64 settings in a frame, the last of which counts, and 100 interim responses at once', () => {
  const origin = Origin.greeted()
  const stream = origin.ask().stream!
  const sizes = (count: number) =>
    settings(...Array.from({ length: count }, (_, i) => [setting.initialWindowSize, i] as const))
  origin.send(sizes(64))
  assert.equal(stream.sendWindow, 63)
  const interim = headers(stream.id, [[':status', '103']], flag.endHeaders)
  origin.send(...Array.from({ length: 100 }, () => interim))
  assert.equal(origin.fault, null)
  origin.send(interim)
  assert.equal(origin.fault, 'flood')
  const other = Origin.greeted()
  other.send(sizes(65))
  assert.equal(other.fault, 'flood')
})

test('a turn reads a thousand frames, or 60 heads, however often the socket is read, and goes on in the next', () => {
  const origin = Origin.greeted()
  const response = origin.ask()
  const { id } = response.stream!
  const some = Buffer.concat(Array.from({ length: 300 }, () => data(id, 'x')))
  origin.session.tick(1)
  assert.equal(origin.session.receive(headers(id, [[':status', '200']], flag.endHeaders)), true)
  const states = [1, 2, 3, 4].map(() => origin.session.receive(some))
  assert.deepEqual(states, [true, true, true, false])
  assert.ok(response.body.length < 1_024)
  assert.equal(origin.session.readOn(), true)
  assert.equal(response.body.length, 1_200)
  const responses = Array.from({ length: 99 }, () => origin.ask())
  const heads = responses.map(({ stream }) => headers(stream!.id, [[':status', '200']]))
  origin.session.tick(2)
  assert.equal(origin.session.receive(Buffer.concat(heads)), false)
  assert.equal(responses.filter(({ isWhole }) => isWhole).length, 61)
  assert.equal(origin.session.readOn(), true)
  assert.ok(responses.every(({ isWhole }) => isWhole))
})

// ── counts, windows and ends, to the byte ──

const updates = (origin: Origin, id: number): number[] =>
  origin
    .frames()
    .filter(({ type, stream }) => type === frameType.windowUpdate && stream === id)
    .map(({ payload }) => payload.readUInt32BE(0))

test('the window of a stream is given back by halves, twice as large each time up to 1 MiB', () => {
  const origin = Origin.greeted()
  origin.ask()
  origin.send(headers(1, begun, endHeaders))
  const given: number[] = []
  let sent = 0
  while (given.length < 6) {
    origin.send(data(1, Buffer.alloc(1_000)))
    sent += 1_000
    for (const more of updates(origin, 1)) given.push(sent, more)
  }
  assert.deepEqual(given, [33_000, 33_000 + 65_535, 99_000, 66_000 + 131_070, 231_000, 132_000 + 262_140])
  while (given.length < 12) {
    origin.send(data(1, Buffer.alloc(10_000)))
    sent += 10_000
    for (const more of updates(origin, 1)) given.push(sent, more)
  }
  const growths = [3, 4, 5].map(i => given[2 * i + 1]! - (given[2 * i]! - given[2 * i - 2]!))
  assert.deepEqual(growths, [524_280, 2 ** 20 - 2 * 524_280, 0])
})

test('windows of all streams together grow by 8 MiB', () => {
  const origin = Origin.greeted()
  const keepUp = () => {
    const { id } = origin.ask().stream!
    origin.send(headers(id, begun, endHeaders))
    let window = 65_535
    for (let i = 0; i < 150; i++) {
      origin.send(data(id, Buffer.alloc(10_000)))
      window += updates(origin, id).reduce((sum, more) => sum + more, -10_000)
    }
    return [id, window > 500_000]
  }
  const grown = Array.from({ length: 10 }, keepUp)
  assert.ok(grown.slice(0, 8).every(([, isLarge]) => isLarge))
  assert.equal(grown[9]![1], false)
  origin.send(data(grown[0]![0] as number, '', endStream))
  assert.equal(keepUp()[1], true)
})

test('the window of the connection is given back once half of it has come', () => {
  const origin = Origin.greeted()
  origin.ask()
  origin.send(headers(1, begun, endHeaders))
  for (let i = 0; i < 511; i++) {
    origin.send(data(1, Buffer.alloc(16_384)))
    assert.deepEqual(updates(origin, 0), [])
  }
  origin.send(data(1, Buffer.alloc(16_384)))
  assert.deepEqual(updates(origin, 0), [8 * 2 ** 20])
})

test('what comes for a stream that has failed is bounded by the window that it had', () => {
  for (const more of [0, 1]) {
    const origin = Origin.greeted()
    origin.ask()
    origin.send(data(1, Buffer.alloc(1_000)))
    const parts = [16_384, 16_384, 16_384, 65_535 - 1_000 - 3 * 16_384 + more]
    origin.send(...parts.map(size => data(1, Buffer.alloc(size))))
    assert.equal(origin.fault, more === 0 ? null : 'flow_control')
  }
})

test('a paused reader holds small pieces as few', () => {
  const origin = Origin.greeted()
  const asked = origin.ask()
  origin.session.pause(asked.stream!)
  origin.send(headers(1, begun, endHeaders))
  const letters = Array.from({ length: 200 }, (_, i) => String.fromCharCode(97 + (i % 26)))
  for (const letter of letters) origin.send(data(1, letter))
  assert.ok(asked.stream!.held.length <= 64)
  origin.session.resume(asked.stream!)
  assert.equal(asked.body, letters.join(''))
  assert.ok(asked.pieces <= 64)
})

test('an origin may send 1,000 frames that carry nothing, and 100 more a second', () => {
  const idle = {
    PING: ping,
    'an unknown frame': frame(200, 0, 0),
    'DATA without bytes': data(1, ''),
    'a WINDOW_UPDATE for nothing that waits': windowUpdate(0, 1),
    'small DATA of a stream that is over': data(3, Buffer.alloc(255)),
  }
  for (const [what, bytes] of Object.entries(idle)) {
    const origin = Origin.greeted()
    const [, over] = [origin.ask(), origin.ask()]
    origin.send(headers(1, begun, endHeaders))
    origin.session.cancel(over.stream!)
    origin.session.tick(60_000)
    let count = 0
    while (origin.fault === null && count < 2_000) {
      origin.send(bytes)
      count++
      if (count === 1_000) origin.session.tick(61_000)
    }
    assert.deepEqual(
      [origin.fault, count],
      what.startsWith('small') ? ['flow_control', 258] : ['flood', 1_101],
      what,
    )
  }
  const origin = Origin.greeted()
  const over = origin.ask()
  origin.session.cancel(over.stream!)
  for (let i = 0; i < 1_100; i++) origin.send(data(1, ''))
  assert.equal(origin.fault, 'flood')
})

test('window updates are free while a body waits for them', () => {
  const origin = Origin.greeted(10, [setting.initialWindowSize, 0])
  const asked = origin.ask('POST', false)
  origin.session.send(asked.stream!, Buffer.alloc(3_000))
  for (let i = 0; i < 2_500; i++) {
    origin.send(windowUpdate(1, 1))
    origin.frames()
  }
  assert.equal(origin.fault, null)
})

test('what was asked, taken and cancelled is counted', () => {
  const origin = Origin.greeted()
  const asked = Array.from({ length: 5 }, () => origin.ask())
  assert.equal(origin.session.requests, 5)
  origin.send(goAway(5))
  assert.equal(origin.session.requestsTaken, 3)
  for (const [last, code] of [
    [9, errorCode.none],
    [5, errorCode.internal],
  ] as const) {
    const other = Origin.greeted()
    for (let i = 0; i < 5; i++) other.ask()
    other.send(goAway(last, code))
    assert.equal(other.session.requestsTaken, 0)
  }
  assert.deepEqual(
    asked.map(({ fault }) => fault),
    [null, null, null, 'refused', 'refused'],
  )
  const busy = Origin.greeted()
  for (let i = 0; i < 100; i++) {
    assert.equal(busy.session.hasCancelledMany, false)
    const { stream } = busy.ask()
    busy.session.cancel(stream!)
    busy.session.cancel(stream!)
  }
  assert.equal(busy.session.hasCancelledMany, true)
})

test('a session that leaves says so once, opens no stream, and ends those that it has', () => {
  const origin = Origin.greeted()
  const asked = origin.ask()
  origin.frames()
  origin.session.leave()
  assert.deepEqual([origin.session.isLeaving, origin.session.room], [true, 0])
  assert.equal(codeOf(origin.frames(), 0), errorCode.none)
  origin.send(headers(1, begun))
  assert.equal(asked.isWhole, true)
  origin.session.close()
  origin.session.leave()
  assert.deepEqual(origin.frames(), [])
})

test('streams of a session that is closed hear nothing more', () => {
  const origin = Origin.greeted()
  const asked = origin.ask('POST', false)
  origin.session.close()
  assert.deepEqual([origin.session.isClosed, origin.session.size], [true, 0])
  origin.send(headers(1, begun))
  assert.equal(origin.session.send(asked.stream!, Buffer.alloc(10)), true)
  assert.deepEqual([asked.status, asked.fault, asked.isWhole, asked.drains], [0, null, false, 0])
})

test('bodies wait until what was taken is written', () => {
  const origin = Origin.greeted()
  const asked = origin.ask('POST', false)
  origin.frames()
  origin.session.written(false)
  assert.equal(origin.session.send(asked.stream!, Buffer.alloc(10)), false)
  assert.deepEqual(origin.frames(), [])
  origin.flushes = 0
  origin.session.written(true)
  assert.equal(origin.flushes, 1)
  assert.equal(origin.frames()[0]!.payload.length, 10)
  assert.equal(asked.drains, 1)
  origin.session.written(true)
  assert.equal(origin.flushes, 1)
})

test('an owner hears once of all there is to take', () => {
  const origin = Origin.greeted()
  origin.flushes = 0
  origin.ask()
  origin.ask()
  assert.equal(origin.flushes, 1)
  origin.frames()
  origin.send(ping)
  assert.equal(origin.flushes, 2)
  origin.frames()
  origin.send(settingsAck)
  assert.equal(origin.flushes, 2)
})

test('an origin is silent only while it owes a response', () => {
  const origin = Origin.greeted()
  origin.session.tick(10_000)
  assert.equal(origin.session.isSilent, false)
  const asked = origin.ask()
  assert.equal(origin.session.isSilent, false)
  origin.session.tick(15_000)
  assert.equal(origin.session.isSilent, true)
  const { changes } = origin
  origin.session.probe()
  assert.deepEqual(
    [origin.changes, origin.session.isPingFresh, origin.session.isPingLate],
    [changes + 1, true, false],
  )
  origin.session.tick(16_000)
  assert.deepEqual([origin.session.isPingFresh, origin.session.isPingLate], [false, true])
  origin.send(frame(frameType.ping, flag.ack, 0, Buffer.alloc(8)))
  assert.deepEqual([origin.changes, origin.session.isPingLate], [changes + 2, false])
  origin.send(frame(frameType.ping, flag.ack, 0, Buffer.alloc(8)), headers(1, begun))
  assert.deepEqual([origin.changes, asked.isWhole], [changes + 3, true])
})

test('the rest of a request is called off where its response is whole', () => {
  const origin = Origin.greeted()
  const asked = origin.ask('POST', false)
  origin.frames()
  origin.send(headers(1, begun))
  assert.equal(codeOf(origin.frames(), 1), errorCode.cancel)
  const whole = origin.ask('POST', false)
  origin.session.endRequest(whole.stream!, null)
  origin.session.endRequest(whole.stream!, null)
  assert.deepEqual(
    origin.frames().map(({ type, flags }) => [type, flags]),
    [
      [frameType.headers, endHeaders],
      [frameType.data, endStream],
    ],
  )
  origin.send(headers(3, begun))
  assert.equal(codeOf(origin.frames(), 3), null)
  assert.deepEqual([asked.isWhole, whole.isWhole], [true, true])
})

/** An origin that has sent as many frames that carry nothing as it may, and two requests: one is over. */
function spent(method = 'GET') {
  const origin = Origin.greeted()
  const [asked, over] = [origin.ask(method), origin.ask()]
  origin.session.cancel(over.stream!)
  origin.session.tick(60_000)
  for (let i = 0; i < 1_000; i++) origin.send(ping)
  origin.frames()
  return { origin, asked, over }
}

test('DATA costs nothing of what an origin may send idly if it carries something, or ends a response', () => {
  for (const [what, fault, ...frames] of [
    ['256 bytes for nobody', null, data(3, Buffer.alloc(256))],
    ['255 bytes for nobody', 'flood', data(3, Buffer.alloc(255))],
    ['nothing', 'flood', data(1, '')],
    ['a header block for nobody', 'flood', headers(3, begun)],
    ['an end', null, headers(1, begun, endHeaders), data(1, '', endStream)],
    ['a byte', null, headers(1, begun, endHeaders), data(1, 'x')],
  ] as const) {
    const { origin, asked } = spent()
    origin.send(...frames)
    assert.deepEqual([origin.fault, asked.fault], [fault, null], what)
  }
})

test('a body of known length may come in any frames, with padding, and be cut anywhere', () => {
  const origin = Origin.greeted()
  const asked = origin.ask()
  const sized = headers(1, [...begun, ['content-length', '6']], endHeaders)
  const frames = [data(1, 'ab'), data(1, '\x02cd\0\0', padded), data(1, '\x01\0', padded)]
  for (const byte of Buffer.concat([sized, ...frames, data(1, 'ef', endStream)])) {
    assert.equal(asked.isWhole, false)
    origin.send(Buffer.from([byte]))
  }
  assert.deepEqual([asked.body, asked.pieces, asked.isWhole, origin.fault], ['abcdef', 6, true, null])
})

test('a head says its length where a body follows, and is told at once', () => {
  const origin = Origin.greeted()
  const [asked, empty] = [origin.ask(), origin.ask()]
  origin.send(headers(1, [...begun, ['content-length', '2']], endHeaders))
  assert.deepEqual([asked.length, asked.flushes], [2, 1])
  origin.send(data(1, 'ab'), headers(1, [['x', 'y']]))
  assert.deepEqual([asked.isWhole, asked.trailers], [true, ['x', 'y']])
  origin.send(headers(3, [...begun, ['content-length', '0']]))
  assert.deepEqual([empty.isWhole, empty.length], [true, 0])
})

test('trailers may have 64 KiB', () => {
  const origin = Origin.greeted()
  const asked = origin.ask()
  // As large as the :status in whose place it is.
  const fields = [['x', 'v'.repeat(9)] as const, ...large(64 * 1024)!.slice(1)]
  origin.send(headers(1, begun, endHeaders), block(fields, endStream))
  assert.deepEqual([asked.isWhole, asked.fault], [true, null])
})

test('a response without a body may end with DATA that has none', () => {
  const origin = Origin.greeted()
  const [head, empty] = [origin.ask('HEAD'), origin.ask()]
  origin.send(headers(1, begun, endHeaders), data(1, '', endStream))
  origin.send(headers(3, begun, endHeaders), data(3, '\x01\0', padded | endStream))
  assert.deepEqual([head.isWhole, head.pieces, empty.isWhole, empty.pieces], [true, 0, true, 0])
})

test('DATA with more padding than it has ends no response', () => {
  const origin = Origin.greeted()
  const asked = origin.ask()
  origin.send(headers(1, begun, endHeaders), data(1, '\x05x', padded | endStream))
  assert.deepEqual([origin.fault, asked.isWhole, asked.body], ['protocol', false, ''])
})

test('padded DATA for a stream that is over passes', () => {
  const { origin } = spent()
  origin.session.tick(70_000)
  origin.send(data(3, '\x01x\0', padded), headers(1, begun))
  assert.equal(origin.fault, null)
})

test('who cancels at the head or the last piece hears no end', () => {
  const early = Origin.greeted()
  const left = early.ask()
  left.head = () => early.session.cancel(left.stream!)
  early.send(headers(1, begun))
  assert.deepEqual([left.isWhole, left.fault, early.fault], [false, null, null])
  const origin = Origin.greeted()
  const asked = origin.ask()
  asked.data = () => origin.session.cancel(asked.stream!)
  origin.send(headers(1, begun, endHeaders), data(1, 'x', endStream))
  assert.deepEqual([asked.isWhole, asked.fault, origin.fault], [false, null, null])
})
