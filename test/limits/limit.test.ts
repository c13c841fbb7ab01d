import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endOf, gatewayLimitOf, limitOf } from '../../src/limits/limit.ts'

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

test('from a limit of 200 on, four processes may let in at most two percent before they report it', () => {
  for (let most = 200; most < 3_000; most++) {
    const { unreported, blind } = limitOf('any', most, { kind: 'day' })
    assert.ok(4 * Math.max(unreported, blind) <= 0.02 * most, `${most}`)
  }
  for (let most = 1; most < 200; most++) assert.ok(limitOf('any', most, { kind: 'day' }).unreported <= 1)
  assert.equal(limitOf('any', 19, { kind: 'day' }).unreported, 0)
})

test('no process lets in a call of an AI gateway before the store has counted it', () => {
  for (const most of [1, 20, 200, 1_000_000]) {
    const { unreported, blind } = gatewayLimitOf({ account: 'a', id: 'g' }, 'sliding', most, 60_000)
    assert.deepEqual([unreported, blind], [0, 0], `${most}`)
  }
})
