import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OriginInProcess } from '../../../src/edge/origin/pools.ts'
import { poolStatesOf } from '../../../src/process/plane/pool-states.ts'
import { zoneTo } from '../../help/edge.ts'

const zone = zoneTo(['http://127.0.0.1:9000'])
const [{ pool }] = zone.routes as unknown as [{ pool: { name: string } }]
const early = '2026-01-01T00:00:00.000Z'
const late = '2026-01-01T00:01:00.000Z'

const healthy: OriginInProcess = {
  url: 'http://127.0.0.1:9000',
  weight: 1,
  state: 'healthy',
  since: early,
  ejections: 1,
  consecutive_failures: 0,
  ejected_until: null,
  check: null,
  outstanding: 2,
  connections: 3,
  http2_connections: 0,
  queued: 1,
  slow_start: null,
}
const ejected = { ...healthy, state: 'ejected', since: late, ejected_until: late } as const

function joined(...views: readonly OriginInProcess[]) {
  const [state] = poolStatesOf(
    zone,
    views.map(origin => [{ pool: pool.name, origins: [origin] }]),
  )
  return state!.origins[0]!
}

test('counts of the processes are added, and the worst state stands for all', () => {
  const { state, since, ejections, outstanding, connections, queued, share } = joined(
    healthy,
    ejected,
    healthy,
  )
  assert.deepEqual(
    [state, since, ejections, outstanding, connections, queued, share],
    ['ejected', late, 3, 6, 9, 3, 0],
  )
})

test('a process that knows nothing yet says nothing against the others', () => {
  const unchecked = { ...healthy, state: 'unchecked', since: late } as const
  const failing = { ...healthy, state: 'failing', consecutive_failures: 5, since: late } as const
  for (const [views, expected] of [
    [
      [unchecked, healthy],
      ['healthy', early, 1, 0],
    ],
    [
      [unchecked, unchecked],
      ['unchecked', late, 1, 0],
    ],
    [
      [healthy, failing, unchecked],
      ['failing', late, 1, 5],
    ],
    [
      [failing, ejected],
      ['ejected', late, 0, 5],
    ],
  ] as const) {
    const { state, since, share, consecutive_failures: failures } = joined(...views)
    assert.deepEqual([state, since, share, failures], expected)
  }
})

test('a pool is healthy since its last process says so, and ejected since the first', () => {
  const recovered = { ...healthy, since: late }
  for (const views of [
    [healthy, recovered],
    [recovered, healthy],
  ] as const)
    assert.equal(joined(...views).since, late)
  const before = { ...ejected, since: early }
  for (const views of [
    [ejected, before],
    [before, ejected],
  ] as const)
    assert.equal(joined(...views).since, early)
})
