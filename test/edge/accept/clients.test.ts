import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Clients } from '../../../src/edge/accept/clients.ts'
import { Share, type ShareRequest } from '../../../src/edge/accept/connection-share.ts'
import { LogThrottle } from '../../../src/log/log-throttle.ts'
import type { Config } from '../../../src/config/model/config.ts'
import { stepsOver } from '../../help/exchange.ts'
import { connectTo, request, type Wire } from '../../help/raw.ts'
import { until } from '../../help/until.ts'

async function start(
  t: TestContext,
  client: Partial<Config['client']> = {},
  share?: Share,
  trustedProxies: readonly string[] = [],
) {
  const { plane, clock } = stepsOver(t, [], { client, trustedProxies })
  const clients = new Clients(plane, new LogThrottle(plane.log, clock), share)
  const sockets: Socket[] = []
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    clients.destroy()
    server.close()
  })
  /** Connects a client, and has its connection taken. */
  const join = async (way?: Parameters<Clients['accept']>[1]): Promise<Wire> => {
    const accepted = once(server, 'connection')
    const wire = await connectTo(t, (server.address() as { port: number }).port)
    sockets.push(((await accepted) as [Socket])[0])
    clients.accept(sockets.at(-1)!, way)
    return wire
  }
  return { clients, metrics: plane.metrics, join, sockets }
}

/** The same as one of two workers, whose requests for more are listed. */
async function startOneOfTwo(
  t: TestContext,
  client: Partial<Config['client']>,
  trustedProxies?: readonly string[],
) {
  const sent: ShareRequest[] = []
  const share = new Share({ slot: 0, workers: 2, send: request => sent.push(request) })
  share.begin([])
  return { ...(await start(t, client, share, trustedProxies)), sent }
}

/** Has a client served, be it with an error. */
async function serve(wire: Wire): Promise<Wire> {
  await wire.send(request('GET /'))
  await wire.response()
  return wire
}

test('at the limit an idle client is evicted, and then the oldest that has not made a request', async t => {
  const { metrics, join } = await start(t, { connections: 2 })
  const idle = await serve(await join())
  const first = await join()
  await join()
  assert.equal(await idle.ending, 'FIN')
  await join()
  assert.equal(await first.ending, 'FIN')
  const { clientConnections, evictedConnections, refusedConnections } = metrics
  assert.deepEqual([clientConnections.value, refusedConnections.connections.value], [2, 0])
  assert.deepEqual([evictedConnections.idle.value, evictedConnections.silent.value], [1, 1])
})

test('a connection that ends makes room for another', async t => {
  const { metrics, join } = await start(t, { connections: 1 })
  const first = await join()
  first.leave()
  await until(() => metrics.clientConnections.value === 0)
  await serve(await join())
  assert.equal(metrics.refusedConnections.connections.value, 0)
})

test('a drain without clients ends at once, and one with an idle client when that has closed', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { clients, join } = await start(t)
  await clients.drain(60_000)
  await join()
  const later = { isOver: false }
  const drained = clients.drain(60_000).then(() => (later.isOver = true))
  await new Promise(setImmediate)
  assert.equal(later.isOver, false)
  clients.destroy()
  await drained
})

test('a drain ends with its grace, whatever is left', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { clients, metrics, join } = await start(t)
  await join()
  const drained = clients.drain(1_000)
  t.mock.timers.tick(1_000)
  await drained
  assert.equal(metrics.clientConnections.value, 1)
})

test('a connection beyond the share of its worker waits, with what it has sent, until others leave room', async t => {
  const { clients, metrics, join, sent } = await startOneOfTwo(t, { connections: 2 })
  await join()
  const waiting = await join()
  await waiting.send(request('GET /'))
  await until(() => sent.length === 1)
  assert.deepEqual(sent, [{ key: '*', limit: 2, closing: false, count: 1 }])
  assert.equal(metrics.clientConnections.value, 1)
  clients.grantShare('*', 1)
  await waiting.response()
  assert.equal(metrics.clientConnections.value, 2)
  assert.equal(metrics.shareRequests.granted.value, 1)
})

test('where others have no room, an idle connection here makes some, then one there, and then none is taken', async t => {
  const { clients, metrics, join, sent } = await startOneOfTwo(t, { connections: 2 })
  const idle = await serve(await join())
  await join()
  clients.grantShare('*', 0)
  assert.equal(await idle.ending, 'FIN')
  clients.sweep(0)
  const late = await join()
  clients.grantShare('*', 0)
  await until(() => sent.length === 3)
  assert.deepEqual(
    sent.map(({ closing }) => closing),
    [false, false, true],
  )
  assert.equal(metrics.clientConnections.value, 1)
  clients.grantShare('*', 0)
  assert.equal(await late.ending, 'RST')
  assert.deepEqual([metrics.refusedConnections.connections.value, metrics.shareRequests.denied.value], [1, 3])
})

test('a client that has left while it waited is not counted', async t => {
  const { clients, metrics, join, sockets } = await startOneOfTwo(t, { connections: 2 })
  await join()
  const waiting = await join()
  waiting.socket.on('error', () => {})
  waiting.socket.resetAndDestroy()
  await until(() => sockets[1]!.destroyed)
  clients.grantShare('*', 1)
  assert.equal(metrics.clientConnections.value, 1)
})

test('the client of a load balancer waits as any other, and is forgotten where it leaves', async t => {
  const { clients, metrics, join, sockets, sent } = await startOneOfTwo(t, { connectionsPerAddress: 2 }, [
    '127.0.0.1',
  ])
  const announce = async () => {
    const wire = await join({ tls: false, proxyProtocol: true })
    await wire.send(`PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n${request('GET /')}`)
    return wire
  }
  await (await announce()).response()
  const [leaving, staying] = [await announce(), await announce()]
  await until(() => metrics.clientConnections.value === 3)
  // Both are held, and have been read to the end of their headers.
  await until(() => sent.length === 1 && sockets.every(socket => socket.bytesRead > 50))
  leaving.socket.on('error', () => {}).resetAndDestroy()
  sockets[1]!.destroy()
  clients.grantShare('203.0.113.7', 1)
  await staying.response()
  assert.deepEqual([sent[0]!.key, metrics.clientConnections.value], ['203.0.113.7', 2])
})

test('a worker leaves others half of what it does not use, or what it was granted, or closes as many idle connections as it must', async t => {
  const { clients, metrics, join } = await startOneOfTwo(t, { connections: 20 })
  const leave = (what: 'half' | 'surplus' | 'idle', count = 0) =>
    clients.leaveShare({ key: '*', what, count })
  await join()
  assert.deepEqual([leave('half'), leave('surplus')], [5, 0])
  clients.grantShare('*', 7)
  assert.deepEqual([leave('surplus'), leave('surplus'), leave('idle', 8)], [2, 0, 8])
  clients.grantShare('*', 1)
  await serve(await join())
  assert.deepEqual([leave('idle', 2), metrics.clientConnections.value], [2, 1])
})
