// What a connection over HTTP/2 has its address account for, over real sockets: requests that wait, until they are over however they end.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { type Http2Address, Http2Addresses } from '../../../../src/edge/client/http2/http2-address.ts'
import { Http2Connection } from '../../../../src/edge/client/http2/http2-connection.ts'
import { Offenders } from '../../../../src/edge/client/http2/http2-offenders.ts'
import { Http2Turns } from '../../../../src/edge/client/http2/http2-turns.ts'
import { errorCode, frameType, setting } from '../../../../src/http2/frames/frames.ts'
import { workOfRequest } from '../../../../src/http2/frames/turn-work.ts'
import { patient } from '../../../help/clock.ts'
import { Edge, edgeConfig, listenAt } from '../../../help/edge.ts'
import {
  codeOf,
  framesOf,
  get,
  headers,
  preface,
  rstStream,
  settings,
  windowUpdate,
} from '../../../help/http2.ts'
import { deadOrigin, ok, type Origin, startOrigin, startResponder } from '../../../help/origin.ts'
import { turnsUntil } from '../../../help/until.ts'

const fields = [...get.slice(0, 3), [':authority', 'site.test']] as const

function requests(count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, i) => headers(2 * i + 1, fields)))
}

/** Has a connection be indebted: the client takes none of these responses. */
const untaken = Buffer.concat([settings([setting.initialWindowSize, 0]), requests(5)])

/** Listens for connections of one address, which is at hand. */
async function start(t: TestContext, origin: { readonly url: string }) {
  const config = edgeConfig([origin.url], patient)
  const edge = await listenAt(t, new Edge(t, config))
  const peers = { offenders: new Offenders(), turns: new Http2Turns(), addresses: new Http2Addresses() }
  const connections: Http2Connection[] = []
  const sockets: Socket[] = []
  let closed = 0
  /** Requests that were recorded when a connection was closed last. */
  let recorded = 0
  const server = createServer({ allowHalfOpen: true, noDelay: true }, socket => {
    sockets.push(socket)
    const arrival = { tls: null, isPlaintextOnTls: false, transport: socket, client: null }
    const isClosed = () => {
      closed++
      recorded = edge.accesses.length
    }
    connections.push(new Http2Connection(socket, edge.plane, isClosed, arrival, peers))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const address: Http2Address = peers.addresses.join('127.0.0.1', false)
  const join = (...bytes: readonly Buffer[]): Socket => {
    const socket = connect({ host: '127.0.0.1', port }).on('error', () => {})
    t.after(() => socket.destroy())
    socket.resume().write(Buffer.concat([preface, settings(), windowUpdate(0, 2 ** 24), ...bytes]))
    return socket
  }
  const sweep = () => {
    for (const connection of connections) connection.sweep(edge.plane.coarseNow)
  }
  const trust = (...trustedProxies: string[]) => {
    edge.reload({ ...config, trustedProxies })
    sweep()
  }
  return {
    edge,
    trust,
    address,
    addresses: peers.addresses,
    connections,
    sockets,
    join,
    closed: () => closed,
    recorded: () => recorded,
  }
}

const silent = (t: TestContext): Promise<Origin> => startOrigin(t, wire => wire.ending)

const endings: Readonly<Record<string, (socket: Socket, origin: Origin) => unknown>> = {
  'the client closes': socket => socket.end(),
  'the client resets the connection': socket => socket.resetAndDestroy(),
  'the client resets each': socket =>
    socket.write(Buffer.concat(Array.from({ length: 100 }, (_, i) => rstStream(2 * i + 1)))),
  'the client breaks the protocol': socket => socket.write(windowUpdate(0, 0)),
  'the origin dies': (_, origin) => {
    for (const { socket } of origin.wires) socket.resetAndDestroy()
  },
}

for (const [how, end] of Object.entries(endings))
  test(`no request waits any more when ${how}`, async t => {
    const origin = await silent(t)
    const { address, join, closed, edge } = await start(t, origin)
    const socket = join(requests(100))
    await turnsUntil(() => address.waitingRequests === 100 && origin.wires.length === 100)
    assert.equal(address.stalledRequests, 0)
    end(socket, origin)
    await turnsUntil(() => address.waitingRequests === 0)
    await turnsUntil(() => edge.accesses.length === 100)
    socket.destroy()
    await turnsUntil(() => closed() === 1)
    assert.equal(address.waitingRequests, 0)
    assert.equal(address.heldBytes, 0)
  })

test('while an address has to wait, one of its small pieces is read, and the rest afterwards', async t => {
  const { address, join, sockets, edge } = await start(t, await startResponder(t, ok('hello')))
  const socket = join(untaken)
  await turnsUntil(() => sockets[0]?.bytesRead === socket.bytesWritten && address.stalledRequests === 5)
  socket.setNoDelay(true)
  address.stalledRequests += 1_024
  address.charge(2 ** 30)
  // The first is kept, and has the connection wait; another one is read ahead.
  for (const byte of headers(11, fields)) {
    const before = sockets.length
    socket.write(Buffer.from([byte]))
    const other = join()
    await turnsUntil(() => sockets.length > before && sockets[before]!.bytesRead > 0)
    other.destroy()
  }
  assert.equal(sockets[0]!.readableLength, 1)
  address.stalledRequests -= 1_024
  const next = join(requests(1))
  await turnsUntil(() => edge.accesses.length === 7)
  next.destroy()
})

test('a connection counts until the requests that it leaves behind are ended, some in each turn', async t => {
  const origin = await silent(t)
  const { address, join, closed, recorded, edge } = await start(t, origin)
  const socket = join(requests(100))
  await turnsUntil(() => address.waitingRequests === 100 && origin.wires.length === 100)
  socket.resetAndDestroy()
  let most = 0
  for (let before = 0; closed() === 0; before = edge.accesses.length) {
    await turn()
    most = Math.max(most, edge.accesses.length - before)
  }
  assert.equal(recorded(), 100)
  assert.ok(most > 0 && most <= 16, `${most} in a turn`)
})

test('no request waits any more behind responses, refusals and failures, and an address without connections is forgotten', async t => {
  const { edge, address, addresses, join, closed } = await start(t, await startResponder(t, ok('hello')))
  const refused = headers(101, [...get.slice(0, 3), [':authority', 'other.test']])
  const socket = join(requests(50), refused)
  await turnsUntil(() => edge.accesses.length === 51 && address.waitingRequests === 0)
  socket.end()
  await turnsUntil(() => closed() === 1)
  addresses.leave(address)
  assert.equal(addresses.size, 0)
  const dead = await start(t, deadOrigin())
  dead.join(requests(20))
  await turnsUntil(() => dead.edge.accesses.length === 20 && dead.address.waitingRequests === 0)
})

test('responses that wait for closed windows count, and no more once they are sent', async t => {
  const { edge, address, join } = await start(t, await startResponder(t, ok('hello')))
  const socket = join(settings([setting.initialWindowSize, 0]), requests(20))
  await turnsUntil(() => edge.accesses.length === 20 && address.stalledRequests === 20)
  assert.equal(address.waitingRequests, 20)
  socket.write(settings([setting.initialWindowSize, 65_535]))
  await turnsUntil(() => address.waitingRequests === 0)
  assert.equal(address.stalledRequests, 0)
})

test('a reload that trusts a proxy, or no longer, has the connections count as those of a proxy, or of a client', async t => {
  const { address, addresses, connections, join, trust } = await start(
    t,
    await startResponder(t, ok('hello')),
  )
  const closed = settings([setting.initialWindowSize, 0])
  const sockets = [join(closed, requests(20)), join(closed, requests(20))]
  await turnsUntil(() => address.stalledRequests === 40)
  connections[0]!.sweep(performance.now() + 10_000)
  assert.ok(address.heldBytes > 0)
  trust('127.0.0.1')
  assert.deepEqual([address.waitingRequests, address.stalledRequests, address.heldBytes], [0, 0, 0])
  const proxy = addresses.join('127.0.0.1', true)
  assert.equal(proxy.stalledRequests, 40)
  assert.ok(proxy.heldBytes > 0)
  addresses.leave(proxy)
  trust()
  assert.equal(addresses.size, 1)
  assert.deepEqual([address.stalledRequests, proxy.stalledRequests, proxy.heldBytes], [40, 0, 0])
  for (const socket of sockets) socket.destroy()
  await turnsUntil(() => address.stalledRequests === 0)
  addresses.leave(address)
  assert.equal(addresses.size, 0)
})

test('a connection that waited for its turn as a client reads on as a proxy', async t => {
  const { address, edge, join, sockets, trust } = await start(t, await startResponder(t, ok('hello')))
  const socket = join(untaken)
  await turnsUntil(() => address.stalledRequests === 5)
  address.stalledRequests += 1_024
  address.charge(2 ** 30)
  socket.write(headers(11, fields))
  await turnsUntil(() => sockets[0]?.isPaused() === true)
  await turn()
  await turn()
  address.stalledRequests -= 1_024
  trust('127.0.0.1')
  await turnsUntil(() => edge.accesses.length === 6)
})

test('while connections of its address have to wait for what they leave untaken, one that takes its responses is served', async t => {
  const { address, edge, join, sockets } = await start(t, await startResponder(t, ok('hello')))
  const socket = join(untaken)
  await turnsUntil(() => address.stalledRequests === 5)
  address.stalledRequests += 1_024
  address.charge(2 ** 30)
  socket.write(headers(11, fields))
  await turnsUntil(() => sockets[0]?.isPaused() === true)
  join(requests(100))
  await turnsUntil(() => edge.accesses.length === 105)
  assert.equal(sockets[0]!.isPaused(), true)
  assert.ok(address.delay > 1_000)
  address.stalledRequests -= 1_024
})

test('responses that wait for a client that reads nothing at all count', async t => {
  const { address, connections, join } = await start(t, await startResponder(t, ok('x'.repeat(400_000))))
  const socket = join(settings([setting.initialWindowSize, 2 ** 31 - 1]), requests(100))
  socket.pause()
  await turnsUntil(() => (connections[0]?.session.stalledCount ?? 0) > 50)
  await turnsUntil(() => address.stalledRequests === connections[0]!.session.stalledCount)
})

test('streams that pause wait no more once they were looked at', async t => {
  const events = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n'
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(events)
    await wire.ending
  })
  const { edge, address, connections, join } = await start(t, origin)
  join(requests(50))
  await turnsUntil(() => address.waitingRequests === 50 && origin.wires.length === 50)
  let now = edge.plane.coarseNow
  await turnsUntil(() => {
    connections[0]!.sweep((now += 1_000))
    return address.waitingRequests === 0
  })
})

test('reads are charged to their address, and the more of its requests are stalled, the slower it begins others', async t => {
  const { address, join } = await start(t, await startResponder(t, ok('hello')))
  const joined = Array.from({ length: 5 }, () =>
    join(settings([setting.initialWindowSize, 0]), requests(100)),
  )
  await turnsUntil(() => address.stalledRequests === 500)
  const charge = t.mock.method(address, 'charge')
  const began = performance.now()
  const more = Buffer.concat(Array.from({ length: 20 }, (_, i) => headers(201 + 2 * i, fields)))
  for (const socket of joined) socket.write(more)
  await turnsUntil(() => address.stalledRequests === 600)
  // Each waits for the square of how many there are: 115 ms together, but for what is read at once.
  const took = performance.now() - began
  assert.ok(took > 60, `${took} ms`)
  const charged = charge.mock.calls.reduce((sum, { arguments: [work] }) => sum + work, 0)
  assert.ok(charged >= 100 * workOfRequest, String(charged))
})

test('an address that leaves too much loses the streams of which it takes nothing for a second', async t => {
  const { address, connections, join, edge } = await start(t, await startResponder(t, ok('x'.repeat(1_000))))
  const socket = join(settings([setting.initialWindowSize, 500]), requests(2))
  let got: Buffer = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => (got = Buffer.concat([got, bytes])))
  await turnsUntil(() => connections.length === 1)
  const [connection] = connections
  let now = edge.plane.coarseNow
  const sweep = () => connection!.sweep((now += 1_000))
  const sweptUntil = (holds: () => boolean) =>
    turnsUntil(() => {
      sweep()
      return holds()
    })
  await sweptUntil(() => address.heldBytes === 1_000)
  address.heldBytes += 64 * 1024 * 1024
  for (let i = 0; i < 10; i++) {
    sweep()
    await turn()
  }
  // It has less than its even share, until there are very many.
  assert.equal(address.heldBytes, 64 * 1024 * 1024 + 1_000)
  for (let i = 0; i < 70_000; i++) address.count(1)
  await sweptUntil(() => framesOf(whole(got)).filter(({ type }) => type === frameType.rstStream).length === 2)
  assert.equal(codeOf(framesOf(whole(got)), 1), errorCode.enhanceYourCalm)
  assert.equal(codeOf(framesOf(whole(got)), 3), errorCode.enhanceYourCalm)
  assert.equal(address.heldBytes, 64 * 1024 * 1024)
  assert.equal(address.waitingRequests, 0)
})

/** Cuts off a frame that has not come as a whole. */
function whole(bytes: Buffer): Buffer {
  let at = 0
  while (at + 9 <= bytes.length && at + 9 + bytes.readUIntBE(at, 3) <= bytes.length)
    at += 9 + bytes.readUIntBE(at, 3)
  return bytes.subarray(0, at)
}
