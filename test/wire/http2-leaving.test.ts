// Clients that leave requests over HTTP/2 behind by closing the connection: as many resets as there were, which add up over the connections of an address.

import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { frameType } from '../../src/http2/frames/frames.ts'
import { Authority } from '../help/certificates.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { Edge, type EdgeSettings, edgeConfig, listenAt } from '../help/edge.ts'
import { framesOf, headers, ping, preface, settings } from '../help/http2.ts'
import { startOrigin } from '../help/origin.ts'
import type { Ending } from '../help/raw.ts'
import { turnsUntil } from '../help/until.ts'

const authority = new Authority()
const identity = authority.issue(['site.test', '127.0.0.1'])

/** Starts an edge in front of an origin that says nothing. */
async function start(t: TestContext, listener: object, more: EdgeSettings = {}): Promise<Edge> {
  const origin = await startOrigin(t, wire => wire.ending)
  const config = {
    ...edgeConfig([origin.url], { ...patient, ...more }),
    listen: [{ host: '127.0.0.1', port: 0, tls: false, ...listener }],
    tls: { certificates: [identity], minVersion: 'TLSv1.2' } as const,
  }
  return listenAt(t, new Edge(t, config, { clock: new ManualClock() }))
}

/** Begins requests that get no response, and leaves as soon as they are under way. */
async function leave(
  t: TestContext,
  edge: Edge,
  requests: number,
  how: Ending,
  isTls = false,
): Promise<void> {
  const transport = connectTo(t, edge)
  const socket = isTls ? secure(transport) : transport
  const isRead = acknowledged(socket)
  const begun = Array.from({ length: requests }, (_, i) => headers(2 * i + 1))
  socket.write(Buffer.concat([preface, settings(), ...begun, ping]))
  await isRead
  if (how === 'FIN') socket.end()
  else transport.resetAndDestroy()
  await turnsUntil(() => edge.metrics.clientConnections.value === 0)
}

function connectTo(t: TestContext, { port }: Edge): Socket {
  const socket = connect({ host: '127.0.0.1', port })
  t.after(() => socket.destroy())
  return socket.on('error', () => {})
}

function secure(socket: Socket): Socket {
  const secured = connectTls({
    socket,
    ca: authority.certificate,
    servername: 'site.test',
    ALPNProtocols: ['h2'],
  })
  return secured.on('error', () => {})
}

/** Waits until what was sent is read, which the acknowledgement of a PING behind it says. */
function acknowledged(socket: Socket): Promise<void> {
  let got: Buffer = Buffer.alloc(0)
  return new Promise(resolve => {
    socket.on('data', (bytes: Buffer) => {
      got = Buffer.concat([got, bytes])
      if (got.includes(pong) && framesOf(got).some(({ type }) => type === frameType.ping)) resolve()
    })
  })
}

const pong = ping.subarray(9)

for (const isTls of [false, true])
  for (const how of ['FIN', 'RST'] as const)
    test(`requests that are left behind by ${how}${isTls ? ' of a connection with TLS' : ''} add up`, async t => {
      const edge = await start(t, isTls ? { tls: true } : { h2c: true })
      const { resets } = edge.metrics.http2Failures
      for (let i = 0; i < 6; i++) await leave(t, edge, 128, how, isTls)
      assert.equal(resets.value, 0)
      await leave(t, edge, 128, how, isTls)
      assert.equal(resets.value, 1)
    })

test('closing a page that is loading, again and again, is no offence', async t => {
  const edge = await start(t, { h2c: true })
  for (let i = 0; i < 140; i++) await leave(t, edge, 6, 'FIN')
  assert.equal(edge.metrics.http2Failures.resets.value, 0)
})

test('streams left by many clients behind a trusted proxy are no offence', async t => {
  const edge = await start(t, { h2c: true }, { trustedProxies: ['127.0.0.1'] })
  for (let i = 0; i < 8; i++) await leave(t, edge, 128, 'FIN')
  assert.equal(edge.metrics.http2Failures.resets.value, 0)
})

test('connections that the gateway itself closes are no offence', async t => {
  const edge = await start(t, { tls: true })
  const { resets } = edge.metrics.http2Failures
  const sockets = Array.from({ length: 9 }, () => secure(connectTo(t, edge)))
  const begun = Array.from({ length: 100 }, (_, i) => headers(2 * i + 1))
  for (const socket of sockets) {
    const isRead = acknowledged(socket)
    socket.write(Buffer.concat([preface, settings(), ...begun, ping]))
    await isRead
  }
  edge.plane.destroy()
  await turnsUntil(() => edge.metrics.clientConnections.value === 0)
  assert.equal(resets.value, 0)
})
