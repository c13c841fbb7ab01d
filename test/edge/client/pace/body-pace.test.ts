import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BodyPace } from '../../../../src/edge/client/pace/body-pace.ts'
import type { Exchange } from '../../../../src/edge/exchange/exchange.ts'
import { field } from '../../../../src/http1/fields/fields.ts'

const usual = { type: 'text/plain', bodyRate: 500, bodyTimeout: 0, idle: 300_000 }

/** Looks every 100 ms for `ms`, after as many bytes have come as `bytesAt` says; returns when and why the body was given up, if it was. */
function watch(
  bytesAt: (ms: number) => number,
  ms: number,
  {
    isAwaited = (_: number) => true,
    ...limits
  }: Partial<typeof usual> & { isAwaited?: (ms: number) => boolean } = {},
): readonly [ms: number, reason: string] | null {
  const { idle, type, ...client } = { ...usual, ...limits }
  const head = { version: '2', fields: ['Content-Type', type], ids: [field.contentType] }
  const x = { head, bytesIn: 0, route: { config: { timeouts: { idle } } }, snapshot: { client } }
  const pace = new BodyPace(x as unknown as Exchange, 0)
  for (let now = 0; now <= ms; now += 100) {
    x.bytesIn = bytesAt(now)
    const reason = pace.check(isAwaited(now), now)
    if (reason !== null) return [now, reason]
  }
  return null
}

const steady = (perSecond: number) => (ms: number) => Math.floor((ms * perSecond) / 1000)

test('a body at the rate or above is never too slow', () => {
  fc.assert(
    fc.property(fc.integer({ min: 510, max: 1e6 }), perSecond => {
      assert.equal(watch(steady(perSecond), 120_000), null)
    }),
    { numRuns: 20 },
  )
})

test('a body below the rate is abandoned as soon as that is certain', () => {
  for (const perSecond of [0, 1, 100, 490])
    assert.deepEqual(watch(steady(perSecond), 60_000), [10_000, 'body_rate'], `${perSecond}`)
})

test('a call of gRPC may take its time, but not be silent for long', () => {
  const type = 'application/grpc+proto'
  assert.equal(watch(steady(1), 600_000, { type }), null)
  assert.deepEqual(watch(steady(0), 600_000, { type }), [300_000, 'body_idle'])
})

test('fast bytes make up for a pause, but not for a trickle over hours', () => {
  const burst = (ms: number) => 10_000_000 + ms / 1_000
  assert.equal(watch(burst, 290_000), null)
  assert.deepEqual(watch(burst, 3_600_000), [300_700, 'body_rate'])
})

test('bytes that arrived before the first check count', () => {
  const x = { head: { version: '1.1' }, bytesIn: 60_000, route: null, snapshot: { client: usual } }
  const pace = new BodyPace(x as unknown as Exchange, 0)
  const lookAt = (second: number) => pace.check(true, second * 1_000)
  for (let second = 0; second < 120; second++) assert.equal(lookAt(second), null, `${second}`)
  assert.equal(lookAt(120), 'body_rate')
})

test('silence is bounded by the idle timeout of the route', () => {
  assert.deepEqual(
    watch(() => 10_000_000, 60_000, { idle: 2_000 }),
    [2_000, 'body_idle'],
  )
  assert.equal(watch(steady(100), 9_900, { idle: 2_000 }), null)
})

test('the whole body is bounded by its timeout, however fast it arrives', () => {
  assert.deepEqual(watch(steady(1e6), 60_000, { bodyTimeout: 5_000 }), [5_000, 'body_timeout'])
})

test('only time spent waiting for the client counts', () => {
  const limits = { bodyTimeout: 20_000, idle: 15_000 }
  assert.equal(
    watch(() => 1, 3_600_000, { ...limits, isAwaited: () => false }),
    null,
  )
  const half = (ms: number) => ms % 200 === 0
  assert.deepEqual(
    watch(() => 1, 60_000, { ...limits, isAwaited: half }),
    [20_000, 'body_rate'],
  )
})

test('a limit that is off bounds nothing', () => {
  assert.equal(
    watch(() => 0, 3_600_000, { bodyRate: 0, idle: 0 }),
    null,
  )
})

test('a stall of the process does not count against the client', () => {
  const x = { head: { version: '1.1' }, bytesIn: 1, route: null, snapshot: { client: usual } }
  const pace = new BodyPace(x as unknown as Exchange, 0)
  for (const now of [60_000, 120_000]) assert.equal(pace.check(true, now), null)
})
