import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import type { Timeouts } from '../../../../src/config/model/config.ts'
import type { Failure } from '../../../../src/errors/catalogue/origin-failure.ts'
import type { Dial, Dialer } from '../../../../src/edge/origin/dial/dial.ts'
import { Dials } from '../../../../src/edge/origin/dial/dials.ts'
import { Handshakes } from '../../../../src/edge/origin/dial/handshakes.ts'
import { AddressGuard } from '../../../../src/edge/resolver/address-guard.ts'
import { ManualClock } from '../../../help/clock.ts'
import { edgeConfig } from '../../../help/edge.ts'
import { freePort } from '../../../help/free-port.ts'
import { startOrigin } from '../../../help/origin.ts'
import { until } from '../../../help/until.ts'

const timeouts: Timeouts = { connect: 5_000, handshake: 3_000, response: 0, write: 0, idle: 0, total: 0 }

/** Dials a port; what becomes of each dial is whether it speaks for all who wait, or null where it connected. */
function start(t: TestContext, port: number, hasDescriptor = true) {
  const outcomes: (boolean | null)[] = []
  const clock = new ManualClock()
  const dialer: Dialer = {
    protocols: [],
    target: {
      config: edgeConfig([`http://127.0.0.1:${port}`]).zones[0]!.routes[0]!.pool!.origins[0]!,
      book: null,
      guard: new AddressGuard(),
      hasDescriptor,
      handshakes: new Handshakes(),
    },
    dialed(dial: Dial, socket: Socket) {
      t.after(() => socket.destroy())
      dials.connected(dial)
      outcomes.push(null)
    },
    dialFailed: (dial: Dial, _: string, failure: Failure) => void outcomes.push(dials.failed(dial, failure)),
    crashed: assert.fail,
  }
  const dials = new Dials(dialer, clock)
  const dial = async () => {
    const count = outcomes.length
    dials.start(timeouts)
    assert.equal(dials.size, 1)
    await until(() => outcomes.length > count)
    assert.equal(dials.size, 0)
    return outcomes.at(-1)!
  }
  return { dials, dial, outcomes, clock }
}

test('while an origin is down one dial at a time speaks for all who wait, from the second failure on', async t => {
  const peer = await startOrigin(t, wire => wire.ending, await freePort())
  const { dials, dial } = start(t, peer.port)
  assert.equal(dials.worth(3), 3)
  assert.equal(await dial(), null)
  await peer.goDown()
  assert.equal(await dial(), false)
  assert.deepEqual([dials.worth(3), dials.worth(0)], [1, 0])
  assert.equal(await dial(), true)
  const again = createServer(socket => socket.destroy()).listen(peer.port, '127.0.0.1')
  t.after(() => again.close())
  await once(again, 'listening')
  assert.equal(await dial(), null)
  assert.equal(dials.worth(3), 3)
})

test('a lack of local resources does not count against the origin', async t => {
  const { port } = await startOrigin(t, wire => wire.ending)
  const { dials, dial } = start(t, port, false)
  assert.deepEqual([await dial(), await dial()], [false, false])
  assert.equal(dials.worth(3), 3)
})

test('a time-out speaks for nobody else', async t => {
  const { port } = await startOrigin(t, wire => wire.ending)
  const { dials, outcomes, clock } = start(t, port)
  for (let i = 0; i < 2; i++) {
    dials.start(timeouts)
    dials.sweep(clock.monotonic() + 4_999)
    assert.equal(dials.size, 1)
    dials.sweep(clock.monotonic() + 5_000)
  }
  assert.deepEqual([outcomes, dials.size, dials.worth(3)], [[false, false], 0, 1])
})

test('a dial that was abandoned is heard of no more', async t => {
  const { port } = await startOrigin(t, wire => wire.ending)
  const { dials, outcomes } = start(t, port)
  dials.start(timeouts)
  dials.abort()
  for (let i = 0; i < 10; i++) await new Promise(setImmediate)
  assert.deepEqual(outcomes, [])
})
