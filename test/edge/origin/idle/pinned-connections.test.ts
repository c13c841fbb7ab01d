import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IdlePinnedConnections } from '../../../../src/edge/origin/idle/idle-pinned-connections.ts'
import type { PinnedConnection } from '../../../../src/edge/origin/lease.ts'
import { PinnedConnections } from '../../../../src/edge/origin/idle/pinned-connections.ts'

const [origin, another] = [{}, {}]

function connection(
  facts: Partial<PinnedConnection> = {},
  closed: PinnedConnection[] = [],
): PinnedConnection {
  const one: PinnedConnection = {
    isReused: true,
    origin,
    clientAddress: '192.0.2.1',
    grantedIdle: -1,
    deadline: Number.POSITIVE_INFINITY,
    lend: () => assert.fail('it is lent'),
    close: () => void closed.push(one),
    ...facts,
  }
  return one
}

test('a client gets the connection back that it used last, to the same origin and for the same address', () => {
  const pinned = new PinnedConnections()
  const [first, second] = [connection(), connection()]
  for (const one of [first, connection({ origin: another }), second]) assert.equal(pinned.keep(one), true)
  assert.equal(pinned.take(origin, '192.0.2.2'), null)
  assert.equal(pinned.leadsTo(origin, '192.0.2.2'), false)
  assert.equal(pinned.leadsTo({}, '192.0.2.1'), false)
  assert.equal(pinned.leadsTo(origin, '192.0.2.1'), true)
  assert.equal(pinned.take(origin, '192.0.2.1'), second)
  pinned.remove(first)
  assert.equal(pinned.take(origin, '192.0.2.1'), null)
  assert.equal(pinned.leadsTo(another, '192.0.2.1'), true)
})

test('waiting commands are rejected when the client closes, and late replies are dropped', () => {
  const closed: PinnedConnection[] = []
  const pinned = new PinnedConnections()
  const [first, second] = [connection({}, closed), connection({}, closed)]
  pinned.keep(first)
  pinned.close()
  assert.deepEqual(closed, [first])
  assert.equal(pinned.keep(second), false)
  assert.equal(pinned.leadsTo(origin, '192.0.2.1'), false)
})

test('the eldest makes room, of one origin or of all, once it was idle for a second', () => {
  const closed: PinnedConnection[] = []
  const idle = new IdlePinnedConnections()
  const [first, second, third] = [
    connection({ origin: another }, closed),
    connection({}, closed),
    connection({}, closed),
  ] as const
  for (const [i, one] of [first, second, third].entries()) idle.add(one, i)
  assert.equal(idle.closeOldest(999, null), false)
  assert.equal(idle.closeOldest(1_000, origin), false)
  assert.equal(idle.closeOldest(1_001, origin), true)
  assert.deepEqual(closed, [second])
  assert.equal(idle.delete(second), true)
  assert.equal(idle.delete(second), false)
  assert.equal(idle.closeOldest(1_001, null), true)
  assert.deepEqual(closed, [second, first])
  assert.deepEqual([idle.has(first), idle.has(second)], [true, false])
})

test('one waits for as long as its origin grants, a minute at most', () => {
  for (const [grantedIdle, deadline] of [
    [-1, 61_000],
    [3_000, 4_000],
    [0, 1_000],
    [3_600_000, 61_000],
  ] as const) {
    const one = connection({ grantedIdle })
    new IdlePinnedConnections().add(one, 1_000)
    assert.equal(one.deadline, deadline)
  }
})
