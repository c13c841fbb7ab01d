import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { EdgeMetrics } from '../../src/base/edge-metrics.ts'
import { createLogger } from '../../src/base/log.ts'
import type { Timeouts } from '../../src/config/config.ts'
import type { TransportConfig } from '../../src/config/pool-config.ts'
import type { Origin } from '../../src/edge/origin.ts'
import type { Failure, OriginConnection } from '../../src/edge/origin-connection.ts'
import { Origins } from '../../src/edge/origins.ts'
import type { Waiter } from '../../src/edge/waiting-line.ts'
import { ManualClock } from '../help/clock.ts'
import { edgeConfig } from '../help/edge.ts'
import { startOrigin } from '../help/origin.ts'

const timeouts: Timeouts = { connect: 5_000, handshake: 3_000, response: 0, write: 0, idle: 0, total: 0 }

/** Someone who waits; what becomes of the waiting is a connection or the code of a failure. */
class Asker implements Waiter {
  readonly timeouts = timeouts
  readonly outcome: Promise<OriginConnection | string>
  readonly #settle: (outcome: OriginConnection | string) => void

  constructor() {
    const { promise, resolve } = Promise.withResolvers<OriginConnection | string>()
    this.outcome = promise
    this.#settle = resolve
  }

  connected(connection: OriginConnection): void {
    this.#settle(connection)
  }

  unconnected(_phase: string, failure: Failure): void {
    this.#settle(failure.code ?? '')
  }

  crashed(bug: unknown): void {
    throw bug
  }
}

function originAt(
  t: TestContext,
  url: string,
  transport: Partial<TransportConfig> = {},
): { readonly origin: Origin; readonly origins: Origins; readonly clock: ManualClock } {
  const clock = new ManualClock()
  const origins = new Origins({
    clock,
    metrics: new EdgeMetrics(),
    log: createLogger('error', { write: assert.fail }),
  })
  t.after(() => origins.destroy())
  const config = edgeConfig([url], { transport }).zones[0]!.routes[0]!.pool!.origins[0]!
  return { origin: origins.get(config), origins, clock }
}

async function connectionOf(origin: Origin): Promise<OriginConnection> {
  const asker = new Asker()
  origin.acquire(asker, { fresh: false })
  const outcome = await asker.outcome
  assert.ok(typeof outcome !== 'string', String(outcome))
  return outcome
}

test('who holds a connection and who waits for one is outstanding, an idle connection is not', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin } = originAt(t, peer.url, { connections: 2 })
  assert.equal(origin.outstanding, 0)
  const first = await connectionOf(origin)
  const second = await connectionOf(origin)
  const [third, gone] = [new Asker(), new Asker()]
  origin.acquire(third, { fresh: false })
  origin.acquire(gone, { fresh: false })
  assert.deepEqual([origin.outstanding, origin.queueLength], [4, 2])
  origin.forget(gone)
  assert.deepEqual([origin.outstanding, origin.queueLength], [3, 1])
  origin.putBack(first)
  assert.equal(await third.outcome, first)
  assert.deepEqual([origin.outstanding, origin.queueLength], [2, 0])
  second.destroy()
  assert.equal(origin.outstanding, 1)
  origin.putBack(first)
  assert.equal(origin.outstanding, 0)
  assert.equal(await connectionOf(origin), first)
  assert.equal(origin.outstanding, 1)
})

test('who was refused is not outstanding', async t => {
  const peer = await startOrigin(t, () => {})
  await peer.goDown()
  const { origin } = originAt(t, peer.url)
  const asker = new Asker()
  origin.acquire(asker, { fresh: false })
  assert.equal(origin.outstanding, 1)
  assert.equal(await asker.outcome, 'ECONNREFUSED')
  assert.equal(origin.outstanding, 0)
})

test('an idle connection makes room for a fresh one that is asked for', async t => {
  const peer = await startOrigin(t, wire => wire.ending)
  const { origin } = originAt(t, peer.url, { connections: 1, queue: { size: 0, timeout: 0 } })
  const kept = await connectionOf(origin)
  origin.putBack(kept)
  const asker = new Asker()
  origin.acquire(asker, { fresh: true })
  const fresh = await asker.outcome
  assert.ok(typeof fresh !== 'string')
  assert.notEqual(fresh, kept)
  assert.equal(origin.outstanding, 1)
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

test('what a waiter may have to wait is what it waits for, and a little more', t => {
  const waits = (url: string, transport: Partial<TransportConfig>, more: Partial<Timeouts> = {}) =>
    originAt(t, url, transport).origin.longestWait({ ...timeouts, ...more })
  const limited = { connections: 1, queue: { size: 1, timeout: 2_000 } }
  assert.equal(waits('http://127.0.0.1', {}), 5_500)
  assert.equal(waits('https://127.0.0.1', {}), 8_500)
  assert.equal(waits('http://127.0.0.1', limited), 7_500)
  assert.equal(waits('https://127.0.0.1', limited), 10_500)
  assert.equal(waits('http://127.0.0.1', { connections: 1, queue: { size: 1, timeout: 0 } }), 0)
  assert.equal(waits('http://127.0.0.1', {}, { connect: 0 }), 0)
  assert.equal(waits('https://127.0.0.1', {}, { handshake: 0 }), 0)
  assert.equal(waits('http://127.0.0.1', {}, { handshake: 0 }), 5_500)
})
