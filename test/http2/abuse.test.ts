// What a client can make a session do for nothing: each way ends at a stated bound, and is counted by its reason.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorCode, flag, frameType, setting } from '../../src/http2/frames/frames.ts'
import { TurnWork } from '../../src/http2/frames/turn-work.ts'
import {
  block,
  codeOf,
  data,
  frame,
  get,
  headers,
  type Pairs,
  Peer,
  ping,
  post,
  preface,
  rstStream,
  settings,
  uint32,
  windowUpdate,
} from '../help/http2.ts'

const { endHeaders, endStream } = flag
const window = setting.initialWindowSize

/** Sends what `next` makes, again and again, until the session fails; returns how often. Output is taken as a client would that reads. */
function flood(peer: Peer, next: (i: number) => readonly Buffer[], most = 20_000): number {
  for (let i = 0; i < most; i++) {
    for (let state = peer.send(...next(i)); state !== 'done'; state = peer.session.readOn(peer.now))
      peer.frames()
    if (peer.fault !== null) return i + 1
    peer.frames()
  }
  return most
}

/** Returns the number of the stream that is opened as the i-th. */
function id(i: number): number {
  return 2 * i + 1
}

// ── resets ──

/** What makes a stream be reset that was just opened, by the client or by us. */
const resets: Readonly<Record<string, (stream: number) => readonly Buffer[]>> = {
  'RST_STREAM, the rapid reset': stream => [headers(stream), rstStream(stream)],
  'a WINDOW_UPDATE by nothing': stream => [headers(stream), windowUpdate(stream, 0)],
  'a WINDOW_UPDATE that is too large': stream => [headers(stream), windowUpdate(stream, 2 ** 31 - 1)],
  'DATA behind its end': stream => [headers(stream), data(stream, 'x')],
  'HEADERS behind its end': stream => [headers(stream), headers(stream)],
  'HEADERS in its middle': stream => [
    headers(stream, post, endHeaders),
    headers(stream, [['a', 'b']], endHeaders),
  ],
  'PRIORITY of a wrong size': stream => [headers(stream), frame(frameType.priority, 0, stream, 'abc')],
  'a body that is too long': stream => [
    headers(stream, [...post, ['content-length', '1']], endHeaders),
    data(stream, 'ab'),
  ],
  'a malformed head': stream => [headers(stream, [...get, ['connection', 'close']])],
}

for (const [what, made] of Object.entries(resets))
  test(`${what} ends the connection when it has come two hundred times`, () => {
    const peer = Peer.greeted()
    assert.equal(
      flood(peer, i => made(id(i))),
      201,
    )
    assert.equal(peer.fault, 'resets')
    assert.equal(codeOf(peer.frames(), 0), errorCode.enhanceYourCalm)
    assert.ok(peer.requests.every(({ aborted }) => aborted !== null))
    assert.equal(peer.session.streamCount, 0)
  })

test('streams that are refused count as reset', () => {
  const peer = Peer.greeted(1)
  assert.equal(
    flood(peer, i => [headers(id(i))]),
    202,
  )
  assert.equal(peer.fault, 'resets')
  assert.equal(peer.requests.length, 1)
})

test('a client may cancel 33 requests a second, and a quarter of what it gets responses to', () => {
  const peer = Peer.greeted()
  const cancelled = flood(
    peer,
    i => {
      peer.now += 40
      return [headers(id(i)), rstStream(id(i))]
    },
    5_000,
  )
  assert.equal(cancelled, 5_000)
  const busy = Peer.greeted()
  busy.onBegin = ({ stream }) => {
    if (stream.id % 10 !== 9) busy.session.respond(stream, 204, '', true)
  }
  flood(busy, i => (id(i) % 10 === 9 ? [headers(id(i)), rstStream(id(i))] : [headers(id(i))]), 10_000)
  assert.equal(busy.fault, null)
})

test('a client that leaves has reset what it did not wait for', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => {
    if (stream.id % 8 === 1) peer.session.respond(stream, 204, '', true)
  }
  flood(peer, i => [headers(id(i))], 120)
  peer.session.leave(0)
  assert.equal(peer.fault, null)
  assert.equal(peer.session.budgets.resets.note(1, 0), 90)
})

test('a client that leaves cannot exceed the limit either', () => {
  const peer = Peer.greeted(1_000)
  flood(peer, i => [headers(id(i))], 201)
  assert.equal(peer.fault, null)
  peer.session.leave(0)
  assert.equal(peer.fault, 'resets')
  assert.ok(peer.requests.every(({ aborted }) => aborted === 'session'))
})

test('a body that nobody wants any more costs nothing to leave', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => peer.session.respond(stream, 204, '', true)
  peer.send(headers(1, post, endHeaders))
  peer.frames()
  peer.session.leave(0)
  assert.equal(peer.session.budgets.resets.note(1, 0), 0)
})

test('a client that has met a limit over several connections is told so', () => {
  const peer = Peer.greeted()
  peer.send(headers(1))
  peer.session.exhaust('resets')
  assert.equal(peer.fault, 'resets')
  assert.equal(codeOf(peer.frames(), 0), errorCode.enhanceYourCalm)
  assert.equal(peer.requests[0]!.aborted, 'session')
})

// ── frames that carry nothing ──

/** By name: the frames that are sent again and again. */
const idle: Readonly<Record<string, readonly Buffer[]>> = {
  PING: [ping],
  'PING answers': [frame(frameType.ping, flag.ack, 0, Buffer.alloc(8))],
  SETTINGS: [settings([window, 1], [window, 2 ** 20])],
  'empty SETTINGS': [settings()],
  'SETTINGS acknowledgements': [frame(frameType.settings, flag.ack, 0)],
  PRIORITY: [frame(frameType.priority, 0, 77, Buffer.alloc(5))],
  PRIORITY_UPDATE: [frame(frameType.priorityUpdate, 0, 0, uint32(1))],
  'WINDOW_UPDATE of the connection': [windowUpdate(0, 1)],
  'WINDOW_UPDATE of a stream': [windowUpdate(1, 1)],
  'WINDOW_UPDATE of a stream that has ended': [windowUpdate(3, 1)],
  'RST_STREAM of a stream that has ended': [rstStream(3)],
  'DATA of a stream that the client has reset': [data(3, 'x')],
  'empty DATA': [data(1, '')],
  'DATA of padding alone': [data(1, '\x09'.padEnd(10, '\0'), flag.padded)],
  GOAWAY: [frame(frameType.goAway, 0, 0, Buffer.alloc(8))],
  'frames that nobody knows': [frame(99, 0, 0, 'abc')],
}

for (const [what, frames] of Object.entries(idle))
  test(`${what} without end is too much after 2,000`, () => {
    const peer = Peer.greeted()
    peer.send(headers(1, post, endHeaders), headers(3), rstStream(3))
    const count = flood(peer, () => frames)
    assert.ok(count > 1_900 && count <= 2_001, String(count))
    assert.equal(peer.fault, 'control_frames')
    assert.equal(codeOf(peer.frames(), 0), errorCode.enhanceYourCalm)
  })

test('HEADERS on streams that we have reset are too much after as many', () => {
  const peer = Peer.greeted()
  peer.send(headers(1, post, endHeaders))
  peer.session.reset(peer.requests[0]!.stream, errorCode.cancel)
  const count = flood(peer, () => [headers(1)])
  assert.ok(count > 1_900 && count <= 2_001)
  assert.equal(peer.fault, 'control_frames')
})

test('a client may send 100 of them a second, and four with each frame of data that it takes', () => {
  const peer = Peer.greeted()
  const often = flood(
    peer,
    () => {
      peer.now += 11
      return [ping]
    },
    10_000,
  )
  assert.equal(often, 10_000)
  const reading = Peer.greeted()
  reading.send(settings([window, 2 ** 30]), windowUpdate(0, 2 ** 30), headers(1))
  const { stream } = reading.requests[0]!
  reading.session.respond(stream, 200, '', false)
  for (let i = 0; i < 10_000; i++) {
    reading.session.write(stream, Buffer.alloc(1_000))
    reading.frames()
    reading.send(windowUpdate(1, 1_000), windowUpdate(0, 1_000), ping)
  }
  assert.equal(reading.fault, null)
})

test('a response that is let go by single bytes earns nothing, and ends', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => {
    peer.session.respond(stream, 200, '', false)
    peer.session.write(stream, Buffer.alloc(100_000))
  }
  peer.send(settings([window, 0]), headers(1))
  peer.frames()
  const count = flood(peer, () => [windowUpdate(1, 1)])
  assert.ok(count <= 2_001)
  assert.equal(peer.fault, 'control_frames')
  assert.equal(peer.requests[0]!.aborted, 'session')
})

// ── heads ──

test('a header block ends after 64 frames, and after as many bytes as a head may have', () => {
  const peer = Peer.greeted()
  peer.send(headers(1, get, endStream))
  assert.ok(flood(peer, () => [frame(frameType.continuation, 0, 1)]) <= 64)
  assert.equal(peer.fault, 'header_block')
  assert.equal(codeOf(peer.frames(), 0), errorCode.enhanceYourCalm)
  const large = Peer.greeted()
  large.send(headers(1, get, endStream))
  const count = flood(large, () => [frame(frameType.continuation, 0, 1, Buffer.alloc(8_000))])
  assert.equal(count, 3)
  assert.equal(large.fault, 'header_block')
  assert.equal(large.requests.length, 0)
})

/** Returns a request that puts a field of 4,033 bytes into the table, and a block on `stream` that repeats it so often. */
function bomb(repeats: number, stream: number): Buffer[] {
  const long = Buffer.concat([Buffer.from([0x40, 1, 0x62, 0x7f, 0xa1, 0x1e]), Buffer.alloc(4_000, 'a')])
  const whole = endHeaders | endStream
  return [
    frame(frameType.headers, whole, 3, Buffer.concat([block(...get), long])),
    frame(frameType.headers, whole, stream, Buffer.concat([block(...get), Buffer.alloc(repeats, 0xbe)])),
  ]
}

test('a header block may have 64 frames', () => {
  for (const [count, fault] of [
    [64, null],
    [65, 'header_block'],
  ] as const) {
    const peer = Peer.greeted()
    const more = Array.from({ length: count - 2 }, () => frame(frameType.continuation, 0, 1))
    peer.send(headers(1, get, endStream), ...more, frame(frameType.continuation, endHeaders, 1))
    assert.deepEqual([peer.fault, peer.requests.length], [fault, fault === null ? 1 : 0])
  }
})

test('a block may unpack to 512 KiB more than a head may have, to the byte', () => {
  const sizeOf = (fields: Pairs) =>
    fields.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0)
  for (const more of [0, 1]) {
    const peer = Peer.greeted()
    const [first, second] = bomb(130, 5)
    const left = peer.limits.headerSection + 512 * 1024 + more - sizeOf(get) - 130 * 4_033
    const count = Math.floor(left / 100)
    const fillers = Array.from({ length: count }, (_, i): [string, string] => [
      'x',
      'v'.repeat(67 + (i < count - 1 ? 0 : left % 100)),
    ])
    const payload = Buffer.concat([second!.subarray(9), block(...fillers)])
    assert.equal(sizeOf(fillers), left)
    peer.send(first!, frame(frameType.headers, endHeaders | endStream, 5, payload))
    assert.equal(peer.fault, more === 0 ? null : 'header_block')
  }
})

test('a request earns four frames that carry nothing', () => {
  const peer = Peer.greeted()
  const pings = (count: number) => peer.send(...Array.from({ length: count }, () => ping))
  // Two came with the greeting.
  for (let i = 0; i < 4; i++) pings(i < 3 ? 500 : 498)
  assert.equal(peer.fault, null)
  peer.send(headers(1, post, endHeaders))
  pings(4)
  peer.send(data(1, '', endStream))
  assert.equal(peer.fault, null)
  pings(1)
  assert.equal(peer.fault, 'control_frames')
})

test('a field that is repeated from the table costs its size each time', () => {
  const peer = Peer.greeted()
  peer.send(...bomb(130, 5), headers(7))
  const [one, many, next] = peer.requests
  assert.equal(one!.fault, null)
  assert.equal(many!.fault, 'http_headers_exceed_limit')
  assert.ok(many!.head.fields.length <= 16)
  assert.equal(next!.fault, null)
})

test('a block that unpacks to 512 KiB more than a head may have ends the connection, whatever it is for', () => {
  const before: Readonly<Record<string, readonly Buffer[]>> = {
    'a request': [],
    trailers: [headers(1, post, endHeaders)],
    'a request that was reset': [headers(1, [...get, ['connection', 'close']])],
  }
  for (const [name, frames] of Object.entries(before)) {
    const peer = Peer.greeted()
    peer.send(...frames, ...bomb(135, frames.length === 0 ? 5 : 1), headers(7))
    assert.equal(peer.fault, 'header_block', name)
    assert.equal(codeOf(peer.frames(), 0), errorCode.enhanceYourCalm)
    assert.ok(!peer.requests.some(({ stream }) => stream.id >= 5), name)
  }
})

test('a header block that stays open, and a client that says nothing, end in time', () => {
  const silent = new Peer()
  silent.session.sweep(9_999, 0)
  assert.equal(silent.fault, null)
  silent.session.sweep(10_000, 0)
  assert.equal(silent.fault, 'slow_head')
  const slow = Peer.greeted()
  slow.now = 50_000
  slow.send(headers(1, get, endStream))
  slow.session.sweep(59_000, 0)
  assert.equal(slow.fault, null)
  slow.session.sweep(60_000, 0)
  assert.equal(slow.fault, 'slow_head')
  const done = Peer.greeted()
  done.send(headers(1, get, endStream), frame(frameType.continuation, endHeaders, 1))
  done.session.sweep(100_000, 0)
  assert.equal(done.fault, null)
})

test('settings that are never acknowledged end the connection after 30 s', () => {
  const peer = new Peer()
  peer.send(preface, settings())
  peer.session.sweep(29_999, 0)
  assert.equal(peer.fault, null)
  peer.session.sweep(30_000, 0)
  assert.equal(peer.fault, 'settings_timeout')
  assert.equal(codeOf(peer.frames(), 0), errorCode.settingsTimeout)
})

// ── slow readers ──

/** Looks at the pace each second. */
function sweepFor(peer: Peer, seconds: number, rate: number): void {
  for (let i = 0; i < seconds; i++) peer.session.sweep((peer.now += 1_000), rate)
}

test('a stream whose window stays closed is reset a minute later, and no other', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => {
    peer.session.respond(stream, 200, '', false)
    if (stream.id === 1) peer.session.write(stream, Buffer.alloc(70_000))
  }
  peer.send(headers(1), headers(3))
  peer.frames()
  sweepFor(peer, 60, 500)
  assert.equal(peer.requests[0]!.aborted, null)
  sweepFor(peer, 2, 500)
  assert.equal(peer.requests[0]!.aborted, 'slow_reader')
  assert.equal(codeOf(peer.frames(), 1), errorCode.cancel)
  assert.equal(peer.requests[1]!.aborted, null)
  assert.equal(peer.fault, null)
})

test('streams that wait for each other are as slow as all of them together', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => {
    peer.session.respond(stream, 200, '', false)
    peer.session.write(stream, Buffer.alloc(2 ** 20))
  }
  peer.send(settings([window, 2 ** 20]), ...Array.from({ length: 20 }, (_, i) => headers(id(i))))
  peer.frames()
  for (let i = 0; i < 200; i++) {
    peer.send(windowUpdate(0, 600))
    peer.frames()
    sweepFor(peer, 1, 500)
  }
  assert.ok(peer.requests.every(({ aborted }) => aborted === null))
  sweepFor(peer, 62, 500)
  assert.ok(peer.requests.every(({ aborted }) => aborted === 'slow_reader'))
})

test('where a client is overdrawn, a stream of which it takes nothing from one look to the next is reset, and no other', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => {
    peer.session.respond(stream, 200, '', false)
    if (stream.id !== 5) peer.session.write(stream, Buffer.alloc(70_000))
  }
  peer.send(settings([window, 10]), headers(1), headers(3), headers(5))
  peer.frames()
  const look = (isOverdrawn: boolean) => peer.session.sweep((peer.now += 1_000), 0, isOverdrawn)
  look(true)
  assert.equal(peer.session.held, 2 * (70_000 - 10))
  assert.equal(peer.session.waitingCount, 2)
  look(false)
  peer.send(windowUpdate(1, 1))
  peer.frames()
  look(true)
  assert.deepEqual(
    peer.requests.map(({ aborted }) => aborted),
    [null, 'slow_reader', null],
  )
  assert.equal(codeOf(peer.frames(), 3), errorCode.enhanceYourCalm)
  assert.equal(peer.session.held, 70_000 - 11)
  assert.equal(peer.session.waitingCount, 1)
})

test('a small response that waits keeps no large piece of memory', () => {
  const peer = Peer.greeted()
  const read = Buffer.alloc(65_536, 'x')
  const waits = (bytes: Buffer, id: number) => {
    peer.onBegin = ({ stream }) => {
      peer.session.respond(stream, 200, '', false)
      peer.session.write(stream, bytes)
    }
    peer.send(settings([window, 0]), headers(id))
    return peer.requests.at(-1)!.stream.first
  }
  const small = waits(read.subarray(100, 105), 1)
  assert.notEqual(small.buffer, read.buffer)
  assert.equal(small.toString(), 'xxxxx')
  assert.equal(waits(read.subarray(0, 20_000), 3).buffer, read.buffer)
})

test('a stream that keeps up with the rate goes on, and any does without a rate', () => {
  for (const [rate, bytes] of [
    [500, 600],
    [0, 0],
  ] as const) {
    const peer = Peer.greeted()
    peer.onBegin = ({ stream }) => {
      peer.session.respond(stream, 200, '', false)
      peer.session.write(stream, Buffer.alloc(2 ** 20))
    }
    peer.send(settings([window, 0]), windowUpdate(0, 2 ** 20), headers(1))
    for (let i = 0; i < 300; i++) {
      if (bytes > 0) peer.send(windowUpdate(1, bytes))
      peer.frames()
      sweepFor(peer, 1, rate)
    }
    assert.equal(peer.requests[0]!.aborted, null)
  }
})

// ── memory and turns ──

test('no more is read while output is not taken', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => peer.session.respond(stream, 200, `x: ${'a'.repeat(4_000)}\r\n`, true)
  let count = 0
  while (count < 1_000 && peer.send(headers(id(count++))) === 'done');
  assert.ok(count < 70, String(count))
  peer.frames()
  assert.equal(peer.session.readOn(0), 'done')
})

test('interim responses that a client takes none of fill no memory', () => {
  const peer = Peer.greeted()
  peer.send(headers(1))
  const { stream } = peer.requests[0]!
  for (let i = 0; i < 2_000; i++) peer.session.interim(stream, 103, `link: ${'a'.repeat(1_000)}\r\n`)
  peer.session.respond(stream, 200, '', true)
  const frames = peer.frames()
  const bytes = frames.reduce((sum, { payload }) => sum + payload.length, 0)
  assert.ok(bytes > 200_000 && bytes < 300_000, String(bytes))
  assert.deepEqual(peer.fieldsOf(frames.at(-1)!), [[':status', '200']])
})

test('a turn reads a thousand frames, or 16 requests, and goes on in the next', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => peer.session.readBody(stream)
  peer.send(headers(1, post, endHeaders))
  assert.equal(peer.send(...Array.from({ length: 3_000 }, () => data(1, 'x'))), 'more')
  assert.ok(peer.requests[0]!.body.length <= 1_024)
  assert.equal(peer.session.readOn(0), 'more')
  assert.equal(peer.session.readOn(0), 'done')
  assert.equal(peer.requests[0]!.body.length, 3_000)
  assert.equal(peer.send(...Array.from({ length: 60 }, (_, i) => headers(id(i + 1)))), 'more')
  assert.ok(peer.requests.length <= 17)
  for (let turns = 0; peer.session.readOn(0) !== 'done'; turns++) assert.ok(turns < 3)
  assert.equal(peer.requests.length, 61)
})

test('sessions share the work of a turn', () => {
  const work = new TurnWork()
  const [one, other] = [new Peer(100, work), new Peer(100, work)]
  const requests = Array.from({ length: 40 }, (_, i) => headers(id(i)))
  const bytes = Buffer.concat([preface, settings(), ...requests])
  assert.equal(one.session.read(bytes, 0), 'more')
  assert.equal(other.session.read(bytes, 0), 'more')
  assert.ok(one.requests.length >= 15 && one.requests.length <= 17)
  assert.equal(other.requests.length, 0)
  assert.equal(other.session.readOn(0, 256), 'more')
  assert.ok(other.requests.length >= 3 && other.requests.length <= 5)
})

test('a reset of a request that is under way is as much work as the request', () => {
  const peer = Peer.greeted()
  const pairs = Array.from({ length: 20 }, (_, i) => Buffer.concat([headers(id(i)), rstStream(id(i))]))
  assert.equal(peer.send(...pairs), 'more')
  assert.ok(peer.requests.length >= 7 && peer.requests.length <= 9, String(peer.requests.length))
})

test('a socket that is read many times in a turn gets no more of it', () => {
  const peer = Peer.greeted()
  peer.onBegin = ({ stream }) => peer.session.readBody(stream)
  peer.send(headers(1, post, endHeaders))
  const some = Buffer.concat(Array.from({ length: 300 }, () => data(1, 'x')))
  const now = peer.now + 1
  const states = [1, 2, 3, 4].map(() => peer.session.read(some, now))
  assert.deepEqual(states, ['done', 'done', 'done', 'more'])
  assert.ok(peer.requests[0]!.body.length <= 1_024)
  assert.equal(peer.session.readOn(now), 'done')
  assert.equal(peer.requests[0]!.body.length, 1_200)
})

test('one frame has 64 settings, and costs one look at the streams', () => {
  const peer = Peer.greeted()
  for (let i = 0; i < 100; i++) peer.send(headers(id(i)))
  const sizes = (count: number) => settings(...Array.from({ length: count }, (_, i) => [window, i] as const))
  assert.equal(peer.send(sizes(64)), 'done')
  assert.equal(peer.fault, null)
  assert.equal(peer.requests[0]!.stream.sendWindow, 63)
  // With a hundred streams, each of these counts as 26 frames.
  const both = Array.from({ length: 30 }, () => Buffer.concat([sizes(2), sizes(1)]))
  assert.equal(peer.send(...both), 'more')
  assert.equal(peer.session.readOn(peer.now), 'done')
  peer.send(sizes(65))
  assert.equal(peer.fault, 'control_frames')
})

test('bytes of a body that wait for nobody hold no packets', () => {
  const peer = Peer.greeted()
  peer.send(headers(1, post, endHeaders))
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 500; i++) {
    const packet = Buffer.allocUnsafeSlow(64 * 1024)
    data(1, 'x').copy(packet)
    peer.session.read(packet.subarray(0, 10), 0)
  }
  globalThis.gc?.()
  peer.session.readBody(peer.requests[0]!.stream)
  assert.equal(peer.requests[0]!.body.length, 500)
  assert.ok(globalThis.gc === undefined || process.memoryUsage().arrayBuffers - before < 2 ** 20)
})
