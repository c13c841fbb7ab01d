import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { TLSSocket } from 'node:tls'
import fc from 'fast-check'
import { ReadPace } from '../../../../src/edge/client/pace/read-pace.ts'

/** A socket with writes of 64 KiB, of which so many bytes have been taken in all. */
function socketThatTook(taken: number, isTls = false): Socket {
  const write = 65_536
  const part = taken % write
  const transport = { _handle: { writeQueueSize: write - part } }
  const own = isTls ? { _parent: transport, _handle: { writeQueueSize: write } } : transport
  return { bytesWritten: taken - part + 2 * write, writableLength: 2 * write, ...own } as unknown as Socket
}

/** Looks every 100 ms for `ms`; returns when the client was too slow, or null. */
function watch(takenAt: (ms: number) => number, ms: number, rate = 500, isTls = false): number | null {
  const socket = socketThatTook(takenAt(0), isTls)
  const pace = new ReadPace(socket, 0)
  for (let now = 0; now <= ms; now += 100) {
    Object.assign(socket, socketThatTook(takenAt(now), isTls))
    if (pace.isSlow(rate, now)) return now
  }
  return null
}

test('a client that takes well more than the rate is not slow, in whatever steps the system lets it', () => {
  const step = fc.integer({ min: 1, max: 25_000 })
  fc.assert(
    fc.property(fc.integer({ min: 1_500, max: 100_000 }), step, (perSecond, bytes) => {
      const steps = (ms: number) => Math.floor((ms * perSecond) / 1000 / bytes) * bytes
      assert.equal(watch(steps, 300_000), null)
    }),
    { numRuns: 50 },
  )
})

test('behind TLS, what the transport has taken of a write counts', async t => {
  const perSecond = (bytes: number) => (ms: number) => Math.floor((ms * bytes) / 1000)
  assert.equal(watch(perSecond(800), 300_000, 500, true), null)
  assert.equal(
    watch(() => 0, 120_000, 500, true),
    60_000,
  )
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as { port: number }).port)
  const [socket] = (await once(server, 'connection')) as [Socket]
  t.after(() => {
    client.destroy()
    socket.destroy()
    server.close()
  })
  const secured = new TLSSocket(socket, { isServer: true }) as { readonly _parent?: Socket }
  assert.equal(secured._parent, socket)
})

test('a client is not slow while the system has a large buffer to send', () => {
  const buffer = 4 * 1024 * 1024
  const step = Math.floor(buffer / 3)
  const fast = fc.integer({ min: buffer, max: 100_000_000 })
  fc.assert(
    fc.property(fc.integer({ min: 5_000, max: 100_000 }), fast, (perSecond, before) => {
      const steps = (ms: number) => before + Math.floor((ms * perSecond) / 1000 / step) * step
      assert.equal(watch(steps, 900_000), null)
    }),
    { numRuns: 50 },
  )
})

test('a client that reads nothing is slow after a minute, one below the rate gradually', () => {
  assert.equal(
    watch(() => 0, 120_000),
    60_000,
  )
  assert.equal(
    watch(ms => Math.floor(ms / 4), 300_000),
    120_000,
  )
})

test('reading fast earns no credit for later', () => {
  assert.equal(
    watch(ms => (ms < 10_000 ? ms * 1_000 : 10_000_000), 400_000),
    310_000,
  )
})

test('a stall of the process does not count against the client', () => {
  const pace = new ReadPace(socketThatTook(0), 0)
  for (const now of [60_000, 120_000]) assert.equal(pace.isSlow(500, now), false)
})
