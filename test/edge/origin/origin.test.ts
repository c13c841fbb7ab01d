import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { invariants } from '../../../src/base/invariants.ts'
import { EdgeMetrics } from '../../../src/metrics/counters/edge-metrics.ts'
import { createLogger } from '../../../src/log/log.ts'
import type { Timeouts } from '../../../src/config/model/config.ts'
import type { TransportConfig } from '../../../src/config/model/pool-config.ts'
import type { Origin } from '../../../src/edge/origin/origin.ts'
import type { Lease } from '../../../src/edge/origin/lease.ts'
import type { Failure } from '../../../src/errors/catalogue/origin-failure.ts'
import { Origins } from '../../../src/edge/origin/origins.ts'
import { PinnedConnections } from '../../../src/edge/origin/idle/pinned-connections.ts'
import type { ConnectionRequest } from '../../../src/edge/origin/connection-queue.ts'
import { ManualClock } from '../../help/clock.ts'
import { edgeConfig } from '../../help/edge.ts'
import { forbidViolations } from '../../help/invariants.ts'
import { deadOrigin, startOrigin } from '../../help/origin.ts'
import { Ignoring } from '../../help/response-handler.ts'
import type { Phase } from '../../../src/errors/catalogue/phase.ts'
import { until } from '../../help/until.ts'

const timeouts: Timeouts = { connect: 5_000, handshake: 3_000, response: 0, write: 0, idle: 0, total: 0 }

/** Someone who waits; what becomes of the waiting is a connection or the code of a failure. */
class Asker extends Ignoring implements ConnectionRequest {
  readonly timeouts = timeouts
  readonly needsHttp1 = false
  readonly outcome: Promise<Lease | string>
  readonly #settle: (outcome: Lease | string) => void

  constructor() {
    super()
    const { promise, resolve } = Promise.withResolvers<Lease | string>()
    this.outcome = promise
    this.#settle = resolve
  }

  connected(lease: Lease): void {
    this.#settle(lease)
  }

  override failed(_phase: Phase, failure: Failure): void {
    this.#settle(failure.cause.code ?? '')
  }
}

function originAt(
  t: TestContext,
  url: string,
  transport: Partial<TransportConfig> = {},
  mayDial = (_dials: number) => true,
): {
  readonly origin: Origin
  readonly origins: Origins
  readonly clock: ManualClock
  readonly metrics: EdgeMetrics
} {
  const [clock, metrics] = [new ManualClock(), new EdgeMetrics()]
  const origins = new Origins({
    clock,
    metrics,
    log: createLogger('error', { write: assert.fail }),
    mayDial,
  })
  t.after(() => origins.destroy())
  forbidViolations(t)
  const config = edgeConfig([url], { transport }).zones[0]!.routes[0]!.pool!.origins[0]!
  return { origin: origins.get(config), origins, clock, metrics }
}

async function connectionOf(origin: Origin): Promise<Lease> {
  const asker = new Asker()
  origin.acquire(asker, { fresh: false })
  return leaseOf(asker)
}

async function leaseOf(asker: Asker): Promise<Lease> {
  const outcome = await asker.outcome
  assert.ok(typeof outcome !== 'string', String(outcome))
  return outcome
}

test('a request with a connection or queued for one is outstanding, an idle connection is not', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin } = originAt(t, peer.url, { connections: 2 })
  assert.equal(origin.outstanding, 0)
  const first = await connectionOf(origin)
  const second = await connectionOf(origin)
  const [third, gone] = [new Asker(), new Asker()]
  origin.acquire(third, { fresh: false })
  origin.acquire(gone, { fresh: false })
  assert.deepEqual([origin.outstanding, origin.queueLength], [4, 2])
  origin.cancel(gone)
  assert.deepEqual([origin.outstanding, origin.queueLength], [3, 1])
  first.giveBack()
  const next = await leaseOf(third)
  assert.equal(next.times, first.times)
  assert.deepEqual([origin.outstanding, origin.queueLength], [2, 0])
  second.destroy()
  assert.equal(origin.outstanding, 1)
  next.giveBack()
  assert.equal(origin.outstanding, 0)
  assert.equal((await connectionOf(origin)).times, first.times)
  assert.equal(origin.outstanding, 1)
})

test('a refused request is not outstanding', async t => {
  const { origin } = originAt(t, deadOrigin().url)
  const asker = new Asker()
  origin.acquire(asker, { fresh: false })
  assert.equal(origin.outstanding, 1)
  assert.equal(await asker.outcome, 'ECONNREFUSED')
  assert.equal(origin.outstanding, 0)
})

test('an idle connection makes room for a fresh one that is requested', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin } = originAt(t, peer.url, { connections: 1, queue: { size: 0, timeout: 0 } })
  const kept = await connectionOf(origin)
  kept.giveBack()
  const asker = new Asker()
  origin.acquire(asker, { fresh: true })
  const fresh = await asker.outcome
  assert.ok(typeof fresh !== 'string')
  assert.notEqual(fresh.times, kept.times)
  assert.equal(origin.outstanding, 1)
})

test('the connection returned last is used first, so that those opened for a peak can close', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin, origins, clock } = originAt(t, peer.url)
  const [old, late] = [await connectionOf(origin), await connectionOf(origin)]
  old.giveBack()
  late.giveBack()
  for (let i = 0; i < 2; i++) {
    clock.advance(2_500)
    const lease = await connectionOf(origin)
    assert.equal(lease.times, late.times)
    lease.giveBack()
    origins.sweep(clock.monotonic())
  }
  await peer.wires[0]!.ending
})

test('a dial that takes too long fails the requests that waited for it, and none that has time left', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin, origins, clock } = originAt(t, peer.url.replace('http', 'https'))
  /** Lets the next dial run out of time, for the one who waits longest. */
  const timeOut = async (nth: number) => {
    await peer.wire(nth)
    const told: unknown[] = []
    void waiting.shift()!.outcome.then(outcome => told.push(outcome))
    await until(() => {
      if (told.length > 0) return true
      clock.advance(timeouts.handshake)
      origins.sweep(clock.monotonic())
      return false
    })
    assert.match(String(told[0]), /^GH_(CONNECT|HANDSHAKE)_TIMEOUT$/)
  }
  const waiting = [new Asker()]
  origin.acquire(waiting[0]!, { fresh: false })
  await timeOut(0)
  for (let i = 0; i < 3; i++) origin.acquire((waiting[i] = new Asker()), { fresh: false })
  await timeOut(1)
  assert.equal(origin.outstanding, 2)
})

test('a place in the queue has a deadline, but not where a connection is being dialled', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin, origins, clock } = originAt(t, peer.url, {
    connections: 1,
    queue: { size: 5, timeout: 1_000 },
  })
  const [dialled, queued] = [new Asker(), new Asker()]
  origin.acquire(dialled, { fresh: false })
  origin.acquire(queued, { fresh: false })
  assert.equal(origin.queueLength, 1)
  clock.advance(1_000)
  origins.sweep(clock.monotonic())
  assert.equal(await queued.outcome, 'GH_QUEUE_TIMEOUT')
  assert.equal(typeof (await dialled.outcome), 'object')
})

test('a returned connection is not given to a request for a new one, and one that was waited for is not new', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin } = originAt(t, peer.url, { connections: 2 })
  const [first, second] = [await connectionOf(origin), await connectionOf(origin)]
  const [any, fresh] = [new Asker(), new Asker()]
  origin.acquire(any, { fresh: false })
  origin.acquire(fresh, { fresh: true })
  first.giveBack()
  const made = await leaseOf(fresh)
  assert.deepEqual([made.isReused, made.times === first.times], [false, false], 'room was made for it')
  second.giveBack()
  const used = await leaseOf(any)
  assert.deepEqual([used.isReused, used.times === second.times], [true, true])
  made.giveBack()
  const again = await connectionOf(origin)
  assert.deepEqual([again.isReused, again.times === made.times], [true, true])
  assert.equal(peer.wires.length, 3)
})

test('a request for a new connection does not keep others from a returned one', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin } = originAt(t, peer.url)
  const first = await connectionOf(origin)
  const [fresh, any] = [new Asker(), new Asker()]
  origin.acquire(fresh, { fresh: true })
  origin.acquire(any, { fresh: false })
  first.giveBack()
  assert.equal((await leaseOf(any)).times, first.times)
  assert.equal((await leaseOf(fresh)).isReused, false)
})

test('a request for a new connection had its turn in the queue', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin } = originAt(t, peer.url, { connections: 1, queue: { size: 1, timeout: 0 } })
  const first = await connectionOf(origin)
  const [queued, refused, fresh] = [new Asker(), new Asker(), new Asker()]
  origin.acquire(queued, { fresh: false })
  origin.acquire(refused, { fresh: false })
  assert.equal(await refused.outcome, 'GH_QUEUE_FULL')
  first.destroy()
  origin.acquire(fresh, { fresh: true })
  const made = await leaseOf(fresh)
  assert.equal(made.isReused, false)
  made.giveBack()
  assert.equal((await leaseOf(queued)).times, made.times)
})

test('a connection that opens when no request waits any more is not new to the one that takes it', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin, metrics } = originAt(t, peer.url)
  const gone = new Asker()
  origin.acquire(gone, { fresh: false })
  origin.cancel(gone)
  assert.equal(origin.outstanding, 0)
  await until(() => metrics.originConnections.value === 1)
  assert.equal((await connectionOf(origin)).isReused, true)
  assert.equal(peer.wires.length, 1)
})

test('a request that leaves while others are refused gets no callback', async t => {
  const { origin } = originAt(t, deadOrigin().url)
  const herald = new Asker()
  origin.acquire(herald, { fresh: false })
  assert.equal(await herald.outcome, 'ECONNREFUSED')
  const [first, second, third] = [new Asker(), new Asker(), new Asker()]
  t.mock.method(first, 'failed', () => origin.cancel(second))
  const heard = t.mock.method(second, 'failed')
  for (const asker of [first, second, third]) origin.acquire(asker, { fresh: false })
  assert.equal(await third.outcome, 'ECONNREFUSED')
  assert.equal(heard.mock.callCount(), 0)
})

test('a bug in the receiver of a connection costs the connection, and affects no one else', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin } = originAt(t, peer.url, { connections: 1 })
  const first = await connectionOf(origin)
  const [broken, next] = [new Asker(), new Asker()]
  t.mock.method(broken, 'connected', () => {
    throw new RangeError('planted')
  })
  const crashed = t.mock.method(broken, 'crashed', () => {})
  origin.acquire(broken, { fresh: false })
  origin.acquire(next, { fresh: false })
  first.giveBack()
  assert.equal(crashed.mock.callCount(), 1)
  assert.equal((await leaseOf(next)).isReused, false)
  assert.equal(origin.outstanding, 1)
})

test('a returned lease cannot be used, and using it is detected', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin } = originAt(t, peer.url)
  const lease = await connectionOf(origin)
  lease.giveBack()
  const told = t.mock.method(invariants, 'violated', () => {})
  assert.equal(lease.write('GET / HTTP/1.1\r\n'), true)
  lease.pause()
  lease.giveBack()
  lease.destroy()
  assert.deepEqual(
    told.mock.calls.map(({ arguments: [what] }) => what),
    [
      'write on a connection that was given back',
      'pause on a connection that was given back',
      'giveBack on a connection that was given back',
      'destroy of a connection that was given back',
    ],
  )
  const next = await connectionOf(origin)
  assert.equal(next.times, lease.times)
  next.destroy()
  next.destroy()
  assert.equal(told.mock.callCount(), 4)
  assert.equal((await peer.wire()).bytesReceived, 0)
})

test('a request for a new connection is not refused for a full queue', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin } = originAt(t, peer.url, { connections: 1, queue: { size: 0, timeout: 0 } })
  const first = await connectionOf(origin)
  const asker = new Asker()
  origin.acquire(asker, { fresh: true })
  first.destroy()
  assert.equal((await leaseOf(asker)).isReused, false)
})

test('a retired origin that a request still asks for is swept and destroyed like the others', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin, origins, clock } = originAt(t, peer.url)
  origins.keep(new Set())
  origins.sweep(clock.monotonic())
  const lease = await connectionOf(origin)
  origins.destroy()
  assert.equal(lease.isHeld, false)
})

test('a dial that takes too long is followed by one for the next in the queue', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin, origins, clock } = originAt(t, peer.url.replace('http', 'https'))
  const askers = [new Asker(), new Asker(), new Asker()]
  origin.acquire(askers[0]!, { fresh: false })
  for (const [nth, asker] of askers.slice(0, 2).entries()) {
    await peer.wire(nth)
    // From now on there is one dial at a time.
    if (nth === 1) origin.acquire(askers[2]!, { fresh: false })
    let isTold = false
    void asker.outcome.then(() => (isTold = true))
    await until(() => {
      if (isTold) return true
      clock.advance(timeouts.handshake)
      origins.sweep(clock.monotonic())
      return false
    })
    if (nth === 0) origin.acquire(askers[1]!, { fresh: false })
  }
  await peer.wire(2)
})

/** Gives a connection back that belongs to a client. */
async function pinTo(origin: Origin, client: PinnedConnections): Promise<void> {
  const lease = await connectionOf(origin)
  lease.pin(client, '')
  lease.giveBack()
}

test('a connection of one client is idle for that client alone', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin, metrics } = originAt(t, peer.url)
  const [alice, bob] = [new PinnedConnections(), new PinnedConnections()]
  await pinTo(origin, alice)
  assert.deepEqual([origin.outstanding, origin.connections, metrics.pinnedConnections.value], [0, 1, 1])
  const [asker, other] = [new Asker(), new Asker()]
  assert.equal(origin.acquirePinned(other, bob, ''), false)
  assert.equal(origin.acquirePinned(other, alice, '192.0.2.1'), false)
  assert.equal((await connectionOf(origin)).isReused, false)
  assert.equal(origin.acquirePinned(asker, alice, ''), true)
  assert.equal((await leaseOf(asker)).isReused, true)
  assert.equal(origin.outstanding, 2)
  assert.equal(origin.acquirePinned(other, alice, ''), false)
})

test('without a free file descriptor the oldest idle connection of any client closes, at any origin', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  let most = 4
  const { origin, origins, clock, metrics } = originAt(
    t,
    peer.url,
    {},
    () => metrics.originConnections.value < most,
  )
  const config = { ...origin.config, url: `${origin.config.url}/`, transport: { ...origin.config.transport } }
  const other = origins.get({ ...config, transport: { ...config.transport, streams: 7 } })
  const [alice, bob] = [new PinnedConnections(), new PinnedConnections()]
  await pinTo(origin, alice)
  await pinTo(origin, bob)
  most = 2
  const early = new Asker()
  other.acquire(early, { fresh: false })
  assert.equal(await early.outcome, 'EMFILE')
  clock.advance(1_000)
  await connectionOf(other)
  assert.deepEqual([alice.leadsTo(origin, ''), bob.leadsTo(origin, '')], [false, true])
})

test('a connection that comes back when its client has left closes', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin, metrics } = originAt(t, peer.url)
  const client = new PinnedConnections()
  await pinTo(origin, client)
  const asker = new Asker()
  origin.acquirePinned(asker, client, '')
  const lease = await leaseOf(asker)
  client.close()
  lease.giveBack()
  assert.deepEqual([origin.connections, metrics.pinnedConnections.value], [0, 0])
})

/** Has a client ask again on the connection that is its own. */
async function askAgain(origin: Origin, client: PinnedConnections): Promise<void> {
  const asker = new Asker()
  assert.equal(origin.acquirePinned(asker, client, ''), true)
  ;(await leaseOf(asker)).giveBack()
}

test('clients that come back to their connections all the time leave half of them to others who wait', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin } = originAt(t, peer.url, { connections: 2 })
  const [alice, bob] = [new PinnedConnections(), new PinnedConnections()]
  const leases = [await connectionOf(origin), await connectionOf(origin)] as const
  leases[0].pin(alice, '')
  leases[1].pin(bob, '')
  for (const lease of leases) lease.giveBack()
  const waiting = new Asker()
  origin.acquire(waiting, { fresh: false })
  await askAgain(origin, alice)
  assert.deepEqual([alice.leadsTo(origin, ''), bob.leadsTo(origin, '')], [false, true])
  assert.equal((await leaseOf(waiting)).isReused, false)
})

test('a client that comes back all the time has its connection for three seconds while others wait, and for as long as it likes otherwise', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin, clock } = originAt(t, peer.url, { connections: 1 })
  const client = new PinnedConnections()
  await pinTo(origin, client)
  clock.advance(60_000)
  await askAgain(origin, client)
  const first = new Asker()
  origin.acquire(first, { fresh: false })
  await askAgain(origin, client)
  const lease = await leaseOf(first)
  lease.pin(client, '')
  lease.giveBack()
  const second = new Asker()
  origin.acquire(second, { fresh: false })
  clock.advance(2_999)
  await askAgain(origin, client)
  assert.equal(client.leadsTo(origin, ''), true)
  clock.advance(1)
  await askAgain(origin, client)
  assert.equal((await leaseOf(second)).isReused, false)
})

test('idle connections of clients take no more file descriptors than they leave: the eldest closes at once, at any origin', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin, origins, metrics } = originAt(
    t,
    peer.url,
    {},
    dials => metrics.originConnections.value + dials < 5,
  )
  const { transport } = origin.config
  const other = origins.get({ ...origin.config, transport: { ...transport, streams: 7 } })
  const [alice, bob, carol] = [new PinnedConnections(), new PinnedConnections(), new PinnedConnections()]
  await pinTo(origin, alice)
  await pinTo(origin, bob)
  assert.deepEqual([alice.leadsTo(origin, ''), bob.leadsTo(origin, '')], [true, true])
  await pinTo(other, carol)
  assert.deepEqual([alice.leadsTo(origin, ''), bob.leadsTo(origin, '')], [false, true])
  assert.equal(carol.leadsTo(other, ''), true)
})
