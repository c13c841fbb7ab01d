import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  endOf,
  gatewayLimitOf,
  limitOf,
  quotaLimitOf,
  rateLimitOf,
  routeLimitOf,
} from '../../src/limits/limit.ts'

test('windows of days and months end at midnight in UTC, and fixed ones at multiples of their period', () => {
  const ends: readonly [Parameters<typeof endOf>[0], string, string][] = [
    [{ kind: 'day' }, '2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00.000Z'],
    [{ kind: 'day' }, '2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
    [{ kind: 'month' }, '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z'],
    [{ kind: 'month' }, '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    [{ kind: 'fixed', period: 3_600_000 }, '2026-01-01T10:00:00.000Z', '2026-01-01T11:00:00.000Z'],
  ]
  for (const [span, now, end] of ends)
    assert.equal(new Date(endOf(span, Date.parse(now))).toISOString(), end, now)
  assert.equal(endOf({ kind: 'sliding', period: 1 }, 0), Number.POSITIVE_INFINITY)
})

test('how far a process goes without the store is a share of the limit', () => {
  const minute = { kind: 'sliding', period: 60_000 } as const
  for (const [max, ceiling, unreported, blind] of [
    [1, 0.25, 0, 0],
    [19, 4.75, 0, 0],
    [20, 5, 1, 0],
    [199, 49.75, 1, 0],
    [200, 150, 1, 1],
    [399, 299.25, 1, 1],
    [400, 300, 2, 2],
    [6_000, 4_500, 30, 30],
  ] as const)
    assert.deepEqual(limitOf('any', max, minute), {
      name: 'sliding 60000 any',
      span: minute,
      period: 60_000,
      growth: (10 * max) / 60_000,
      ...{ max, ceiling, unreported, blind },
    })
  assert.equal(limitOf('any', 200, minute, {}).unreported, 1)
})

test('limits are counted by what they are for, and by the length of their windows', () => {
  const day = 86_400_000
  const limits = [
    rateLimitOf({ name: 'login', limit: 5, period: 1_000 }),
    quotaLimitOf('shop', 'day', 5),
    quotaLimitOf('shop', 'month', 5),
    gatewayLimitOf({ account: 'a', id: 'g' }, 'fixed', 5, 2_000),
    routeLimitOf('smart', 5, 3_000),
  ]
  assert.deepEqual(
    limits.map(({ name, span, period }) => [name, span.kind, period]),
    [
      ['sliding 1000 rule login', 'sliding', 1_000],
      [`day ${day} quota shop`, 'day', day],
      [`month ${28 * day} quota shop`, 'month', 28 * day],
      ['fixed 2000 ai-gateway a/g', 'fixed', 2_000],
      ['fixed 3000 model-route smart', 'fixed', 3_000],
    ],
  )
})

test('from a limit of 200 on, four processes may let in at most two percent before they report it', () => {
  for (let most = 200; most < 3_000; most++) {
    const { unreported, blind } = limitOf('any', most, { kind: 'day' })
    assert.ok(4 * Math.max(unreported, blind) <= 0.02 * most, `${most}`)
  }
  for (let most = 1; most < 200; most++) assert.ok(limitOf('any', most, { kind: 'day' }).unreported <= 1)
  assert.equal(limitOf('any', 19, { kind: 'day' }).unreported, 0)
})

test('no process lets in a call of an AI gateway or a model route before the store has counted it', () => {
  for (const most of [1, 20, 200, 1_000_000])
    for (const { unreported, blind } of [
      gatewayLimitOf({ account: 'a', id: 'g' }, 'sliding', most, 60_000),
      routeLimitOf('smart', most, 60_000),
    ])
      assert.deepEqual([unreported, blind], [0, 0], `${most}`)
})
