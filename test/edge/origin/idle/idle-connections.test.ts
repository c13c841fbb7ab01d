import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IdleConnections } from '../../../../src/edge/origin/idle/idle-connections.ts'
import type { OriginConnection } from '../../../../src/edge/origin/origin-connection.ts'

const connection = (facts: Partial<OriginConnection> = {}) =>
  ({ grantedIdle: -1, isOutdated: false, isReused: false, ...facts }) as OriginConnection

test('a connection is kept for less than its origin grants, and for no longer than a minute', () => {
  const deadlineFor = (grantedIdle: number) => {
    const one = connection({ grantedIdle })
    return new IdleConnections().keep(one, 1_000_000) ? one.deadline - 1_000_000 : null
  }
  assert.equal(deadlineFor(-1), 4_000)
  assert.equal(deadlineFor(5_000), 4_000)
  assert.equal(deadlineFor(1_001), 1)
  assert.equal(deadlineFor(1_000), null)
  assert.equal(deadlineFor(0), null)
  assert.equal(deadlineFor(3_600_000), 60_000)
})

test('the one that came back last serves next, the eldest makes room', () => {
  const idle = new IdleConnections()
  const [first, second, third] = [connection(), connection(), connection()]
  for (const one of [first, second, third]) assert.ok(idle.keep(one, 0))
  assert.ok([first, second, third].every(({ isReused }) => isReused))
  assert.equal(idle.take(), third)
  assert.equal(idle.takeOldest(), first)
  assert.deepEqual(
    [idle.size, idle.take(), idle.take(), idle.takeOldest()],
    [1, second, undefined, undefined],
  )
})

test('a closed connection is not idle any more, and one that was not idle is not found', () => {
  const idle = new IdleConnections()
  const [first, second] = [connection(), connection({ isOutdated: true })]
  for (const one of [first, second]) idle.keep(one, 0)
  assert.equal(idle.remove(first), true)
  assert.equal(idle.remove(first), false)
  assert.deepEqual([idle.size, idle.outdated()], [1, [second]])
  assert.deepEqual([idle.takeAll(), idle.size], [[second], 0])
})
