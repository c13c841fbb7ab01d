import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Exchange } from '../../../src/edge/exchange/exchange.ts'
import { Tunnel } from '../../../src/edge/forward/forward-websocket.ts'
import type { Lease } from '../../../src/edge/origin/lease.ts'
import { closeFrame, frame, maskedCode, opcodes } from '../../help/frames.ts'

const sizes = fc.array(fc.oneof(fc.nat({ max: 6 }), fc.nat({ max: 200 })), { maxLength: 12 })
const steps = fc.array(
  fc.record({ isUp: fc.boolean(), size: fc.integer({ min: 1, max: 90 }), mayGoOn: fc.boolean() }),
  { maxLength: 40 },
)

test('whenever it shuts down, each side gets whole frames and then one Close, and the end once both have replied', () => {
  fc.assert(
    fc.property(sizes, sizes, steps, fc.nat({ max: 40 }), (up, down, steps, when) => {
      const clientSays = written(up, true)
      const originSays = written(down, false)
      const ends = { up: 0, down: 0 }
      const { tunnel, got, say } = start()
      for (const [i, step] of steps.entries()) {
        if (i === when) goAway()
        say.mayGoOn = step.mayGoOn
        const way = step.isUp ? clientSays : originSays
        const bytes = way.bytes.subarray(way.sent, (way.sent += step.size))
        if (bytes.length === 0) continue
        if (step.isUp) tunnel.body(bytes)
        else tunnel.tunnelData(bytes)
      }
      if (steps.length <= when) goAway()
      for (const [way, key] of [
        [clientSays, 'up'],
        [originSays, 'down'],
      ] as const) {
        const sent = Math.min(way.sent, way.bytes.length)
        const all = Buffer.concat(got[key])
        const passed = Math.min(sent, ends[key])
        assert.deepEqual(all.subarray(0, passed), way.bytes.subarray(0, passed))
        const rest = all.subarray(passed)
        if (sent < ends[key]) assert.equal(rest.length, 0)
        else if (key === 'down') assert.deepEqual(rest, closeFrame(1001))
        else assert.equal(maskedCode(rest), 1001)
      }

      // What each has begun it ends, and answers.
      tunnel.body(Buffer.concat([clientSays.bytes.subarray(clientSays.sent), closeFrame(1001, true)]))
      assert.equal(got.ended, 0)
      tunnel.tunnelData(Buffer.concat([originSays.bytes.subarray(originSays.sent), closeFrame(1001)]))
      assert.equal(got.ended, 1)
      assert.deepEqual(Buffer.concat(got.down).subarray(ends.down), closeFrame(1001))
      assert.equal(maskedCode(Buffer.concat(got.up).subarray(ends.up)), 1001)

      function goAway(): void {
        for (const [way, key] of [
          [clientSays, 'up'],
          [originSays, 'down'],
        ] as const)
          ends[key] = way.ends.find(end => end >= Math.min(way.sent, way.bytes.length))!
        tunnel.goAway()
      }
    }),
  )
})

/** Writes frames of these sizes, and where each ends. */
function written(sizes: readonly number[], isMasked: boolean) {
  const frames = sizes.map(size =>
    frame({ opcode: opcodes.binary, payload: Buffer.alloc(size, 0x88), isMasked }),
  )
  const ends = [0]
  for (const one of frames) ends.push(ends.at(-1)! + one.length)
  return { bytes: Buffer.concat(frames), ends, sent: 0 }
}

/** Makes a tunnel between two sides that keep what they get. */
function start() {
  const got = { up: [] as Buffer[], down: [] as Buffer[], ended: 0 }
  const say = { mayGoOn: true }
  const take = (way: 'up' | 'down') => (bytes: Buffer) => {
    assert.equal(got.ended, 0)
    got[way].push(Buffer.from(bytes))
    return say.mayGoOn
  }
  const idle = () => {}
  const client = { write: take('down'), readBody: idle, pauseBody: idle, finish: () => void got.ended++ }
  const x = { plane: { coarseNow: 0 }, bytesOut: 0, client, handler: null, tap: null, ai: null }
  const lease = { write: take('up'), pause: idle, resume: idle, destroy: idle, endSending: idle }
  return { tunnel: new Tunnel(x as unknown as Exchange, lease as unknown as Lease, 0), got, say }
}
