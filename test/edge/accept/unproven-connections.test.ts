// Connections of one address that come at once: the first few are served, and others wait until these are known, for a tenth of a second at most.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { AcceptedConnection } from '../../../src/net/socket/accepted-connection.ts'
import { ConnectionLimits } from '../../../src/edge/accept/connection-limits.ts'
import { Newcomers } from '../../../src/edge/accept/unproven-connections.ts'
import type { Plane } from '../../../src/edge/snapshot/plane.ts'
import { frameType } from '../../../src/http2/frames/frames.ts'
import { ManualClock, patient } from '../../help/clock.ts'
import { Edge, type EdgeSettings, edgeConfig, listenAt } from '../../help/edge.ts'
import { many } from '../../help/http2-origin.ts'
import { framesOf, get, headers, ping, preface, settings } from '../../help/http2.ts'
import { ok, startResponder } from '../../help/origin.ts'
import { turnsUntil } from '../../help/until.ts'

const plain = { host: '127.0.0.1', port: 0, tls: false }
const greeting = Buffer.concat([preface, settings()])
const fields = [...get.slice(0, 3), [':authority', 'site.test']] as const
const polite = Buffer.concat([greeting, headers(1, fields)])

async function start(t: TestContext, more: EdgeSettings = {}) {
  const origin = await startResponder(t, ok('hello'))
  const clock = new ManualClock()
  const config = {
    ...edgeConfig([origin.url], { ...patient, ...more }),
    listen: [{ ...plain, h2c: true }, plain],
    http2: { enabled: true, maxConcurrentStreams: 128, penalty: 20_000 },
  }
  const edge = await listenAt(t, new Edge(t, config, { clock }))
  const { clientConnections, http2Failures, heldConnections } = edge.metrics
  return { edge, clock, clientConnections, http2Failures, heldConnections }
}

/** Connects clients that send this as soon as they can. */
function join(
  t: TestContext,
  edge: Edge,
  count: number,
  bytes: Buffer,
  localAddress = '127.0.0.2',
): Socket[] {
  return Array.from({ length: count }, () => {
    const socket = connect({ host: '127.0.0.1', port: edge.port, localAddress }).on('error', () => {})
    t.after(() => socket.destroy())
    if (bytes.length > 0) socket.write(bytes)
    return socket
  })
}

/** Waits until each has a response. */
function responses(sockets: readonly Socket[]): Promise<unknown> {
  return Promise.all(
    sockets.map(
      socket =>
        new Promise<void>(resolve => {
          let got: Buffer = Buffer.alloc(0)
          socket.on('data', (bytes: Buffer) => {
            got = Buffer.concat([got, bytes])
            if (framesOf(got).some(({ type }) => type === frameType.data)) resolve()
          })
        }),
    ),
  )
}

test('of a hundred connections that attack at the same time at most eight are read, and few more with the penalty', async t => {
  const { edge, http2Failures, heldConnections } = await start(t)
  const read = () => http2Failures.control_frames.value
  join(t, edge, 100, Buffer.concat([greeting, many(4_000, ping)]))
  await turnsUntil(() => heldConnections.value + read() === 100)
  // Ten are taken in spite of it.
  assert.ok(read() > 0 && read() <= 18, `${read()} were read`)
})

test('a hundred connections that come at once with requests are all served, without a wait for the clock', async t => {
  const { edge, heldConnections } = await start(t)
  await responses(join(t, edge, 100, polite))
  assert.equal(heldConnections.value, 0)
})

test('behind eight connections that say nothing, others of the address wait for a moment, and those of others do not', async t => {
  const { edge, clock, clientConnections } = await start(t)
  join(t, edge, 8, Buffer.alloc(0))
  await turnsUntil(() => clientConnections.value === 8)
  const late = join(t, edge, 3, polite)
  const served = responses(late)
  await Promise.all(late.map(socket => once(socket, 'connect')))
  await responses(join(t, edge, 1, polite, '127.0.0.3'))
  // Those that wait are looked at every 2 ms.
  await pause(10)
  assert.equal(clientConnections.value, 9)
  clock.advance(20)
  await served
})

test('a listener of HTTP/1.1 has nobody wait, and a trusted hop does not either', async t => {
  const { edge, clientConnections } = await start(t, { trustedProxies: ['127.0.0.4'] })
  join(t, edge, 8, Buffer.alloc(0))
  await turnsUntil(() => clientConnections.value === 8)
  const [, plainPort] = edge.ports
  const other = connect({ host: '127.0.0.1', port: plainPort!, localAddress: '127.0.0.2' })
  t.after(() => other.destroy())
  await turnsUntil(() => clientConnections.value === 9)
  join(t, edge, 20, Buffer.alloc(0), '127.0.0.4')
  await turnsUntil(() => clientConnections.value === 29)
})

test('waiting requests count towards the limits, and are served while the gateway stops', async t => {
  const { edge, clientConnections } = await start(t, {
    client: { ...patient.client, connectionsPerAddress: 10 },
  })
  const [oldest] = join(t, edge, 8, Buffer.alloc(0))
  await turnsUntil(() => clientConnections.value === 8)
  join(t, edge, 2, Buffer.alloc(0))
  // One more than the address may have takes the place of one that has said nothing.
  join(t, edge, 1, Buffer.alloc(0))
  await new Promise(resolve => oldest!.on('close', resolve))
  assert.equal(clientConnections.value, 8)
  void edge.plane.drain(1_000)
  await turnsUntil(() => clientConnections.value === 10)
})

test('behind connections that go on to have more than is read in a turn, others wait for a tenth of a second, until these are a second old', async () => {
  const clock = new ManualClock()
  const released: unknown[] = []
  const plane = {
    clock,
    snapshot: { client: { connections: 0, connectionsPerAddress: 0 } },
  } as unknown as Plane
  const newcomers = new Newcomers(plane, new ConnectionLimits(), connection => released.push(connection))
  const peer = '192.0.2.1'
  const busy = Array.from({ length: 8 }, () => ({ peer, progress: 'busy' as const }))
  for (const newcomer of busy) newcomers.add(newcomer)
  const late = { peer, descriptor: 20 } as AcceptedConnection
  assert.ok(newcomers.hold(late))
  clock.advance(99)
  await pause(10)
  assert.deepEqual(released, [])
  clock.advance(1)
  await turnsUntil(() => released.length === 1)
  assert.equal(newcomers.hold({ ...late, peer: '192.0.2.2' } as AcceptedConnection), false)
  assert.ok(newcomers.hold(late))
  newcomers.delete(busy[0]!)
  await turnsUntil(() => released.length === 2)
  newcomers.add(busy[0]!)
  clock.advance(899)
  assert.ok(newcomers.hold(late))
  await turnsUntil(() => {
    clock.advance(1)
    return released.length === 3
  })
  assert.equal(newcomers.hold(late), false)
})
