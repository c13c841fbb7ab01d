// Connections of penalised clients that wait: in which order they go on, and which one goes where there are too many.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HeldConnection, Tarpit } from '../../../src/edge/accept/tarpit.ts'

const connection = { serve() {}, reset() {} }
const none = () => false

function heldOf(peer: string): HeldConnection {
  return { connection, peer, isCounted: true }
}

function hold(tarpit: Tarpit, peers: readonly string[], now = 0): HeldConnection[] {
  return peers.map(peer => {
    const held = heldOf(peer)
    assert.equal(tarpit.hold(held, now), undefined)
    return held
  })
}

test('a connection is due after 200 ms, and goes on before where it may', () => {
  const tarpit = new Tarpit()
  const [first, second] = hold(tarpit, ['192.0.2.7', '192.0.2.7'])
  assert.deepEqual(tarpit.release(5, 199, none), [])
  let left = 1
  assert.deepEqual(
    tarpit.release(5, 199, () => left-- > 0),
    [first],
  )
  assert.deepEqual(tarpit.release(5, 200, none), [second])
  assert.equal(tarpit.size, 0)
})

test('those of a client go on in the order in which they came, and clients take turns', () => {
  const tarpit = new Tarpit()
  const [a, b, c] = hold(tarpit, ['192.0.2.7', '192.0.2.7', '192.0.2.7'])
  const [d, e] = hold(tarpit, ['192.0.2.8', '192.0.2.8'])
  assert.deepEqual(tarpit.release(3, 200, none), [a, d, b])
  const [f] = hold(tarpit, ['192.0.2.7'], 200)
  assert.deepEqual(tarpit.release(5, 200, none), [e, c])
  assert.deepEqual(tarpit.release(5, 400, none), [f])
})

test('addresses of one network of IPv6 stand in one queue', () => {
  const tarpit = new Tarpit()
  const [a, b] = hold(tarpit, ['2001:db8::1', '2001:db8::2'])
  const [c] = hold(tarpit, ['2001:db8:0:1::1'])
  assert.deepEqual(tarpit.release(2, 200, none), [a, c])
  assert.deepEqual([tarpit.has('2001:db8::3'), tarpit.has('2001:db8:0:1::1')], [true, false])
  assert.deepEqual(tarpit.empty(), [b])
  assert.equal(tarpit.has('2001:db8::3'), false)
})

test('beyond 1,024 the newest goes of the client that has most, whoever comes', () => {
  const tarpit = new Tarpit()
  const few = hold(tarpit, Array<string>(24).fill('192.0.2.8'))
  const many = hold(tarpit, Array<string>(1_000).fill('192.0.2.7'))
  const visitor = heldOf('192.0.2.8')
  assert.equal(tarpit.hold(visitor, 0), many.at(-1))
  const next = heldOf('192.0.2.7')
  assert.equal(tarpit.hold(next, 0), next)
  assert.equal(tarpit.size, 1_024)
  assert.deepEqual(new Set(tarpit.empty()), new Set([...few, visitor, ...many.slice(0, -1)]))
})
