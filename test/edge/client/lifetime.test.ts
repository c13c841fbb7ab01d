import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Lifetime } from '../../../src/edge/client/lifetime.ts'
import type { Plane } from '../../../src/edge/snapshot/plane.ts'
import { edgeConfig } from '../../help/edge.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'
import { until } from '../../help/until.ts'

const settings = { client: { headerTimeout: 30_000, keepAlive: 60_000 }, timeouts: { idle: 90_000 } } as const

/** More than the system takes while nobody reads. */
const large = Buffer.alloc(16 * 1024 * 1024)

/** Makes the lifetime of a connection at monotonic ms 0, with both ends of the connection. */
async function start(t: TestContext) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const far = connect({ port: (server.address() as { port: number }).port, host: '127.0.0.1' })
  far.pause()
  const [near] = (await once(server, 'connection')) as [Socket]
  near.on('error', () => {})
  t.after(() => {
    near.destroy()
    far.destroy()
    server.close()
  })
  const plane = { coarseNow: 0, isDraining: false, snapshot: { client: edgeConfig([], settings).client } }
  return { near, far, plane, lifetime: new Lifetime(near, plane as unknown as Plane) }
}

test('a client has its time for a head from when it connects, and again from the first part of one', async t => {
  const { lifetime, plane } = await start(t)
  assert.equal(lifetime.deadline, 30_000)
  plane.coarseNow = 20_000
  lifetime.headBegun()
  assert.equal(lifetime.deadline, 50_000)
  lifetime.exchangeBegun()
  assert.equal(lifetime.deadline, Number.POSITIVE_INFINITY)
})

test('an idle client has its time for another request, and in a drain hardly any', async t => {
  const { lifetime, plane } = await start(t)
  plane.coarseNow = 1_000
  lifetime.awaitRequest()
  assert.equal(lifetime.deadline, 61_000)
  lifetime.awaitLastRequest()
  assert.equal(lifetime.deadline, 1_500)
  plane.isDraining = true
  lifetime.awaitRequest()
  assert.equal(lifetime.deadline, 1_500)
})

test('that time counts from when the client has all of its response', async t => {
  const { lifetime, plane, near, far } = await start(t)
  const x = stepsOver(t, [], settings).located(request('GET /'))
  near.write(large)
  lifetime.exchangeBegun()
  lifetime.exchangeEnded(x)
  lifetime.awaitRequest()
  assert.equal(lifetime.deadline, 90_000)
  plane.coarseNow = 5_000
  far.resume()
  await until(() => near.writableLength === 0)
  assert.equal(lifetime.isOver(5_000), false)
  assert.equal(lifetime.deadline, 65_000)
})

for (const [what, begin, deadline] of [
  ['request', 'exchangeBegun', Number.POSITIVE_INFINITY],
  ['head', 'headBegun', 30_000],
] as const)
  test(`a ${what} that begins meanwhile keeps its own time`, async t => {
    const { lifetime, near, far } = await start(t)
    near.write(large)
    lifetime.awaitRequest()
    lifetime[begin]()
    far.resume()
    await until(() => near.writableLength === 0)
    assert.equal(lifetime.isOver(0), false)
    assert.equal(lifetime.deadline, deadline)
  })

test('a closing connection leaves the client its time to read, less where the response is an error', async t => {
  const { lifetime, plane, near, far } = await start(t)
  near.write(large)
  lifetime.close()
  assert.deepEqual([lifetime.isOpen, lifetime.deadline], [false, 2_000])
  plane.coarseNow = 1_000
  const ended = once(far, 'end')
  far.resume()
  await ended
  await until(() => lifetime.deadline === 3_000)
})

test('a client that sends on behind its last response is left more time to read it, up to 30 s', async t => {
  const { lifetime, plane, far } = await start(t)
  const ended = once(far, 'end')
  far.resume()
  lifetime.close()
  await ended
  await until(() => lifetime.deadline === 2_000)
  for (const [now, deadline] of [
    [1_500, 3_500],
    [20_000, 22_000],
    [29_000, 30_000],
    [29_999, 30_000],
  ] as const) {
    plane.coarseNow = now
    lifetime.receivedAfterClose(1024)
    assert.equal(lifetime.deadline, deadline)
  }
})

for (const [what, change] of [
  ['more than 1 GiB', {}],
  ['in a drain', { isDraining: true }],
] as const)
  test(`a client that sends ${what} behind its last response is left no more time`, async t => {
    const { lifetime, plane, far } = await start(t)
    const ended = once(far, 'end')
    far.resume()
    lifetime.close()
    await ended
    await until(() => lifetime.deadline === 2_000)
    Object.assign(plane, { coarseNow: 1_000, ...change })
    lifetime.receivedAfterClose('isDraining' in change ? 1 : 1024 ** 3 + 1)
    assert.equal(lifetime.deadline, 2_000)
  })
