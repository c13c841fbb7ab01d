// Clients that do not take what they are sent: they are cut off, and those for whom there is nothing are not.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Lease } from '../../src/edge/origin/lease.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { type Edge, startEdge } from '../help/edge.ts'
import { startOrigin } from '../help/origin.ts'
import { chunks, request } from '../help/raw.ts'
import { turnsUntil, until } from '../help/until.ts'

/** A third of the largest buffer of the system takes less than a minute at this rate. */
const settings = { ...patient, client: { ...patient.client, responseRate: 25_000 } }
const piece = Buffer.alloc(64 * 1024)

/** Lets so many seconds pass second by second, as an edge sees them. */
async function pass(
  edge: Edge,
  clock: ManualClock,
  seconds: number,
  each: () => unknown = () => {},
): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    clock.advance(1_000)
    await turnsUntil(() => edge.plane.coarseNow >= clock.now())
    await each()
  }
}

test('a client that reads nothing is cut off, one that reads slowly or has nothing to read is not', async t => {
  const clock = new ManualClock()
  const left: string[] = []
  const origin = await startOrigin(t, async wire => {
    const { target } = await wire.request()
    if (target === '/stream') {
      const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
      await wire.send(head + chunks('data: 1\n\n'))
    } else if (target === '/socket')
      await wire.send('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    else {
      const pour = () => {
        while (wire.socket.write(piece) === true) {}
      }
      await wire.send('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n')
      wire.socket.on('drain', pour)
      pour()
    }
    await wire.ending
    left.push(target)
  })
  const edge = await startEdge(t, [origin.url], { ...settings, clock })
  const ask = async (...lines: [string, ...string[]]) => {
    const wire = await edge.connect()
    await wire.send(request(...lines))
    return wire
  }
  const stalled = await ask('GET /stalled')
  stalled.socket.pause()
  const slow = await ask('GET /slow')
  slow.socket.pause()
  const stream = await ask('GET /stream')
  await stream.until('data: 1')
  const socket = await ask('GET /socket', 'Connection: Upgrade', 'Upgrade: websocket')
  await socket.head()
  await pass(edge, clock, 30)
  assert.deepEqual(left, [])
  // Now and then, and far more than the rate asks for; what it does not read is still a lot.
  const sip = async () => {
    slow.socket.resume()
    await once(slow.socket, 'data')
    slow.socket.pause()
  }
  await pass(edge, clock, 40, sip)
  assert.deepEqual(left, ['/stalled'])
  const { response, ...others } = edge.metrics.slowClients
  assert.equal(response.value, 1)
  for (const { value } of Object.values(others)) assert.equal(value, 0)
  assert.deepEqual([edge.accesses.length, edge.accesses[0]!.aborted], [1, true])
  stalled.socket.resume()
  assert.equal(await stalled.ending, 'RST')
})

test('a client that never reads the end of a response that the gateway has completely is cut off too', async t => {
  const clock = new ManualClock()
  const body = 'x'.repeat(200_000)
  const origin = await startOrigin(t, async wire => {
    for (;;) {
      await wire.request()
      await wire.send(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    }
  })
  const edge = await startEdge(t, [origin.url], { ...settings, clock })
  const client = await edge.connect()
  client.socket.pause()
  await client.send(request('GET /').repeat(200))
  await pass(edge, clock, 70)
  assert.equal(edge.metrics.slowClients.response.value, 1)
  assert.equal(edge.metrics.clientConnections.value, 0)
})

test('an origin that falls silent is to blame, although its client was slow before', async t => {
  const pause = t.mock.method(Lease.prototype, 'pause')
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    while (pause.mock.callCount() === 0) await wire.send(chunks('x'.repeat(64 * 1024)))
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url], { timeouts: { idle: 1_000 } })
  const client = await edge.connect()
  client.socket.pause()
  await client.send(request('GET /'))
  await until(() => pause.mock.callCount() > 0)
  client.socket.resume()
  await client.ending
  assert.equal(edge.metrics.errors[524], 1)
  assert.equal(edge.metrics.clientAborts.value, 0)
})
