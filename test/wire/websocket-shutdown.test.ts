// How WebSockets end when the gateway does: with real clients and origins, and by hand where bytes matter.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { HaltingClock } from '../help/clock.ts'
import { Edge, edgeConfig, listenAt } from '../help/edge.ts'
import { closeFrame, frame, maskedCode, opcodes } from '../help/frames.ts'
import { startOrigin } from '../help/origin.ts'
import { request, type Wire } from '../help/raw.ts'
import { thorough } from '../help/thorough.ts'
import { turnsUntil } from '../help/until.ts'

const GOING_AWAY = 1001
const MiB = 2 ** 20
const handshake = request(
  'GET /socket',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
)
const switched =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'
const goingAway = closeFrame(GOING_AWAY)

/** Starts an edge that closes WebSockets so many ms before the end of its grace. */
function startEdge(t: TestContext, url: string, webSocketClose = 5_000) {
  const config = edgeConfig([url])
  return listenAt(t, new Edge(t, { ...config, shutdown: { grace: 30_000, webSocketClose } }))
}

/** Opens a WebSocket by hand, whose origin is in the hands of the test, too. */
async function openRaw(t: TestContext, webSocketClose = 5_000) {
  const over = Promise.withResolvers<void>()
  t.after(() => over.resolve())
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(switched)
    await over.promise
  })
  const edge = await startEdge(t, origin.url, webSocketClose)
  const client = await edge.connect()
  await client.send(handshake)
  await client.head()
  return { edge, client, origin: await origin.wire() }
}

/** Returns the code of the Close frame that an origin gets next. */
async function codeAt(origin: Wire): Promise<number> {
  return maskedCode(await origin.bytes(8))
}

/** Starts real WebSockets through an edge to an origin that sends back what it gets. */
async function openReal(t: TestContext, count: number) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: { threshold: 0 } })
  t.after(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  await once(server, 'listening')
  server.on('connection', socket =>
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
  )
  const edge = await startEdge(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/`, {
        headers: { Host: 'site.test' },
        perMessageDeflate: { threshold: 0 },
      })
      t.after(() => socket.terminate())
      await once(socket, 'open')
      return socket
    }),
  )
  return { edge, sockets, peers: [...server.clients] }
}

/** Returns the code with which each is closed; fails at frames that are none. */
function codesOf(sockets: readonly WebSocket[]): Promise<number[]> {
  return Promise.all(sockets.map(async socket => (await once(socket, 'close'))[0]))
}

test('both ends get 1001 when half of a short grace is over, and no sooner, and the drain ends when they have replied', async t => {
  const { edge, sockets, peers } = await openReal(t, 3)
  const codes = codesOf([...sockets, ...peers])
  const clock = new HaltingClock(t)
  const [began, beganAt] = [performance.now(), clock.monotonic()]
  const drained = edge.plane.drain(2_000)
  sockets[0]!.send('still here')
  assert.equal(String((await once(sockets[0]!, 'message'))[0]), 'still here')
  assert.deepEqual(await codes, Array(6).fill(GOING_AWAY))
  const [took, tookAwake] = [performance.now() - began, clock.monotonic() - beganAt]
  assert.ok(took > 990 && tookAwake < 1_800, `${took} ms, ${tookAwake} of them awake`)
  await drained
  assert.ok(clock.monotonic() - beganAt < 1_900)
  assert.equal(edge.metrics.webSockets.value, 0)
  assert.deepEqual(
    edge.accesses.map(({ status, aborted }) => [status, aborted]),
    Array(3).fill([101, false]),
  )
})

const pairs = thorough(12, 4)

test('our Close never cuts or splits a frame while messages of all sizes go both ways, compressed and in parts', async t => {
  const { edge, sockets, peers } = await openReal(t, pairs)
  const codes = codesOf([...sockets, ...peers])
  for (const socket of sockets) pump(socket)
  await Promise.all(sockets.map(socket => once(socket, 'message')))
  await edge.plane.drain(2_000)
  assert.deepEqual(await codes, Array(2 * pairs).fill(GOING_AWAY))
})

/** Sends on and on; each message in two fragments, of bytes that do not compress well. */
function pump(socket: WebSocket): void {
  const data = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * i * 31) >> 5))
  const next = (i: number) => {
    if (socket.readyState !== WebSocket.OPEN) return
    socket.send(data.subarray(0, (i * 7_919) % 150_000), { fin: false })
    socket.send(data.subarray(0, i % 300), { fin: true }, () => setImmediate(next, i + 1))
  }
  next(1)
}

test('in the middle of a frame the Close waits for its end, and what follows is dropped', async t => {
  const { edge, client, origin } = await openRaw(t)
  const large = frame({ opcode: opcodes.binary, payload: Buffer.alloc(1_000, 7), isFinal: false })
  const masked = frame({ opcode: opcodes.text, payload: Buffer.alloc(70_000, 7), isMasked: true })
  const dropped = frame({ opcode: opcodes.continuation, payload: Buffer.from('late') })
  await origin.send(large.subarray(0, 3))
  await client.send(masked.subarray(0, 20_000))
  await Promise.all([client.bytes(3), origin.bytes(20_000)])
  const drained = edge.plane.drain(2_000)
  await whenGoingAway(edge)
  await origin.send(Buffer.concat([large.subarray(3), dropped]))
  await client.send(
    Buffer.concat([
      masked.subarray(20_000),
      frame({ opcode: opcodes.ping, payload: Buffer.alloc(5), isMasked: true }),
    ]),
  )
  assert.deepEqual(await client.bytes(large.length - 3 + 4), Buffer.concat([large.subarray(3), goingAway]))
  assert.deepEqual(await origin.bytes(masked.length - 20_000), masked.subarray(20_000))
  assert.equal(await codeAt(origin), GOING_AWAY)
  await origin.send(goingAway)
  await client.send(closeFrame(GOING_AWAY, true))
  assert.deepEqual(await Promise.all([client.ending, origin.ending]), ['FIN', 'FIN'])
  assert.deepEqual([client.unread, origin.unread], ['', ''])
  client.leave()
  await drained
})

test('between the fragments of a message the Close is sent at once', async t => {
  const { edge, client, origin } = await openRaw(t)
  const first = frame({
    opcode: opcodes.text,
    payload: Buffer.from('half'),
    isFinal: false,
    isCompressed: true,
  })
  await origin.send(first)
  await client.bytes(first.length)
  const drained = edge.plane.drain(100)
  assert.deepEqual(await client.bytes(4), goingAway)
  assert.equal(await codeAt(origin), GOING_AWAY)
  await drained
})

test('a side that does not reply gets a FIN at the end of the grace', async t => {
  const { edge, client, origin } = await openRaw(t)
  const began = performance.now()
  const drained = edge.plane.drain(400)
  assert.deepEqual(await client.bytes(4), goingAway)
  assert.equal(await codeAt(origin), GOING_AWAY)
  await drained
  assert.ok(performance.now() - began >= 395)
  assert.deepEqual(await Promise.all([client.ending, origin.ending]), ['FIN', 'FIN'])
})

test('a side that has replied waits for the other', async t => {
  const { edge, client, origin } = await openRaw(t)
  const drained = edge.plane.drain(1_000)
  await client.bytes(4)
  await client.send(closeFrame(GOING_AWAY, true))
  await codeAt(origin)
  const pong = frame({ opcode: opcodes.pong, payload: Buffer.from('late') })
  await origin.send(Buffer.concat([pong, goingAway.subarray(0, 3)]))
  await origin.send(goingAway.subarray(3))
  assert.equal(await client.rest(), '')
  client.leave()
  await drained
})

test('a client that does not read holds up neither the Close to its origin nor the end', async t => {
  const { edge, client, origin } = await openRaw(t)
  client.socket.pause()
  const flood = frame({ opcode: opcodes.binary, payload: Buffer.alloc(64 * 1024) })
  const poured = await origin.pour(flood)
  assert.ok(poured < 64 * MiB, `the origin could send ${poured} bytes`)
  const drained = edge.plane.drain(400)
  assert.equal(await codeAt(origin), GOING_AWAY)
  await drained
  await origin.ending
})

test('an origin that does not read holds up neither the Close to its client nor the end', async t => {
  const { edge, client, origin } = await openRaw(t)
  origin.socket.pause()
  const flood = frame({ opcode: opcodes.binary, payload: Buffer.alloc(64 * 1024), isMasked: true })
  const poured = await client.pour(flood)
  assert.ok(poured < 64 * MiB, `the client could send ${poured} bytes`)
  const drained = edge.plane.drain(400)
  assert.deepEqual(await client.bytes(4), goingAway)
  await drained
  await client.ending
})

test('a side that is already closing is left alone', async t => {
  for (const by of ['client', 'origin'] as const) {
    const { edge, client, origin } = await openRaw(t)
    const [from, to] = by === 'client' ? [client, origin] : [origin, client]
    const close = closeFrame(4001, by === 'client')
    await from.send(close)
    await to.bytes(close.length)
    const drained = edge.plane.drain(1_000)
    await whenGoingAway(edge)
    const answer = closeFrame(4001, by === 'origin')
    await to.send(answer)
    assert.deepEqual(await from.bytes(answer.length), answer)
    for (const wire of [client, origin]) wire.leave()
    await drained
    assert.deepEqual([client.unread, origin.unread], ['', ''])
  }
})

test('a client that has half-closed gets the Close, its origin does not', async t => {
  const { edge, client, origin } = await openRaw(t)
  client.finish()
  assert.equal(await origin.ending, 'FIN')
  const drained = edge.plane.drain(1_000)
  assert.deepEqual(await client.bytes(4), goingAway)
  await origin.send(goingAway)
  assert.equal(await client.ending, 'FIN')
  await drained
  assert.deepEqual([client.unread, origin.unread], ['', ''])
})

test('a socket that opens that late is closed at once', async t => {
  const go = Promise.withResolvers<void>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await go.promise
    await wire.send(switched)
    await wire.ending
  })
  const edge = await startEdge(t, origin.url)
  const client = await edge.connect()
  await client.send(handshake)
  const wire = await origin.wire()
  const drained = edge.plane.drain(1_000)
  await whenGoingAway(edge)
  go.resolve()
  await client.head()
  assert.deepEqual(await client.bytes(4), goingAway)
  assert.equal(await codeAt(wire), GOING_AWAY)
  for (const one of [client, wire]) one.leave()
  await drained
})

test('nothing is sent where the protocol has no frames, nor where closing is turned off', async t => {
  const spoken = await openRaw(t)
  await spoken.origin.send('no frames')
  await spoken.client.until('no frames')
  const off = await openRaw(t, 0)
  for (const { edge, client, origin } of [spoken, off]) {
    await edge.plane.drain(200)
    assert.equal(await client.ending, 'RST')
    await origin.ending
    assert.deepEqual([client.unread, origin.unread], ['', ''])
  }
})

test('bytes that turn out not to be a frame are passed on without a gap', async t => {
  const { edge, client, origin } = await openRaw(t)
  // One byte of a head that the next makes wrong: an opcode that nobody has defined, and a length without a mask.
  await origin.send(Buffer.from([0x83]))
  await client.send(Buffer.from([0x82]))
  await Promise.all([client.bytes(1), origin.bytes(1)])
  const drained = edge.plane.drain(400)
  await whenGoingAway(edge)
  for (const [from, to] of [
    [origin, client],
    [client, origin],
  ] as const) {
    await from.send('\x05hello')
    assert.equal(String(await to.bytes(6)), '\x05hello')
    await from.send('more')
    assert.equal(String(await to.bytes(4)), 'more')
  }
  await drained
  assert.equal(await client.ending, 'RST')
  assert.deepEqual([client.unread, origin.unread], ['', ''])
})

/** Waits for the moment at which all WebSockets have been told that can be. */
async function whenGoingAway(edge: Edge): Promise<void> {
  await turnsUntil(() => edge.plane.isGoingAway)
  await new Promise(setImmediate)
}
