import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Liveness } from '../../../src/http2/client/liveness.ts'

/** An origin that has acknowledged our settings. */
function alive(): Liveness {
  const liveness = new Liveness(0)
  liveness.settingsAcknowledged()
  return liveness
}

test('an origin has ten seconds for our settings', () => {
  const liveness = new Liveness(500)
  assert.equal(liveness.tick(10_499), 9_999)
  assert.equal(liveness.isDead, false)
  assert.equal(liveness.tick(10_500), 1)
  assert.equal(liveness.isDead, true)
  liveness.settingsAcknowledged()
  assert.equal(liveness.isDead, false)
})

test('an origin is silent five seconds after it last sent something, or was first asked', () => {
  const liveness = alive()
  const isSilentAt = (now: number) => {
    liveness.tick(now)
    return liveness.isSilent
  }
  assert.deepEqual([4_999, 5_000].map(isSilentAt), [false, true])
  liveness.owes()
  assert.deepEqual([5_000, 9_999, 10_000].map(isSilentAt), [false, false, true])
  liveness.received()
  assert.deepEqual([10_000, 14_999, 15_000].map(isSilentAt), [false, false, true])
})

test('a PING is sent where nothing has come since then, a second ago or earlier, and only one', () => {
  const liveness = alive()
  liveness.tick(2_000)
  liveness.received()
  liveness.tick(4_000)
  assert.equal(liveness.probe(1_999), false)
  assert.equal(liveness.probe(3_001), false)
  assert.equal(liveness.isPingPending, false)
  assert.equal(liveness.probe(3_000), true)
  assert.equal(liveness.isPingPending, true)
  assert.equal(liveness.probe(3_000), false)
  assert.equal(liveness.pingAcknowledged(), true)
  assert.equal(liveness.pingAcknowledged(), false)
  assert.equal(liveness.probe(2_000), true)
})

test('without a time, a PING is sent after five seconds of silence', () => {
  const liveness = alive()
  liveness.received()
  liveness.tick(4_999)
  assert.equal(liveness.probe(), false)
  liveness.tick(5_000)
  assert.equal(liveness.probe(), true)
})

test('the reply to a PING is late after a second, and the origin dead after ten', () => {
  const liveness = alive()
  liveness.tick(1_000)
  assert.equal(liveness.isPingFresh, false)
  liveness.probe(0)
  const seen = [1_999, 2_000, 10_999, 11_000].map(now => {
    liveness.tick(now)
    return [liveness.isPingFresh, liveness.isDead]
  })
  assert.deepEqual(seen, [
    [true, false],
    [false, false],
    [false, false],
    [false, true],
  ])
})
