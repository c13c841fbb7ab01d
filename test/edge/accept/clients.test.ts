import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Clients } from '../../../src/edge/accept/clients.ts'
import { LogThrottle } from '../../../src/edge/log-throttle.ts'
import type { Config } from '../../../src/config/config.ts'
import { stepsOver } from '../../help/exchange.ts'
import { connectTo, request, type Wire } from '../../help/raw.ts'
import { until } from '../../help/until.ts'

async function start(t: TestContext, client: Partial<Config['client']> = {}) {
  const { plane, clock } = stepsOver(t, [], { client })
  const clients = new Clients(plane, new LogThrottle(plane.log, clock))
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    clients.destroy()
    server.close()
  })
  /** Connects a client, and has its connection taken. */
  const join = async (): Promise<Wire> => {
    const accepted = once(server, 'connection')
    const wire = await connectTo(t, (server.address() as { port: number }).port)
    clients.accept(((await accepted) as [Socket])[0])
    return wire
  }
  return { clients, metrics: plane.metrics, join }
}

/** Has a client served, be it with an error. */
async function serve(wire: Wire): Promise<Wire> {
  await wire.send(request('GET /'))
  await wire.response()
  return wire
}

test('where no more are allowed, an idle client makes room, and one that was never served does not', async t => {
  const { metrics, join } = await start(t, { connections: 2 })
  const idle = await serve(await join())
  await join()
  await join()
  assert.equal(await idle.ending, 'FIN')
  assert.equal(metrics.clientConnections.value, 2)
  const refused = await join()
  assert.equal(await refused.ending, 'RST')
  assert.deepEqual([metrics.clientConnections.value, metrics.refusedConnections.connections.value], [2, 1])
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
