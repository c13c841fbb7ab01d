// Event streams: each event leaves as it comes, no limit on their length, and an honest last event when the origin dies.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startEdge } from '../help/edge.ts'
import { startOrigin } from '../help/origin.ts'
import { chunks, request, type Wire } from '../help/raw.ts'

const head =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-store\r\n'
const chunkedHead = `${head}Transfer-Encoding: chunked\r\n\r\n`

/** Reads the last event of a stream; asserts that it is an error record with this code. */
function assertLastEvent(stream: string, code: number, ray: string): void {
  const event = /(?:^|\n\n?)event: error\ndata: (\{.*\})\n\n(?:\r\n)?$/.exec(stream)
  assert.ok(event, stream)
  const record = JSON.parse(event[1]!)
  assert.equal(record.error_code, code)
  assert.equal(record.ray_id, ray)
  assert.equal(record.svc_error, true)
}

/** Lets a client of an edge see the first bytes of a stream, then lets its origin end it. */
async function watchEnding(
  t: TestContext,
  sent: string,
  seen: string,
  die: (wire: Wire) => unknown,
  version = 'HTTP/1.1',
) {
  const { promise: arrived, resolve } = Promise.withResolvers<void>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(sent)
    await arrived
    await die(wire)
  })
  const edge = await startEdge(t, [origin.url], { timeouts: { idle: 200 } })
  const client = await edge.connect()
  await client.send(`GET / ${version}\r\nHost: site.test\r\n\r\n`)
  const answer = await client.head()
  await client.until(seen)
  resolve()
  return { edge, client, ray: answer.field('svc-ray')! }
}

test('each event arrives before the origin sends the next, for longer than any limit but the idle one', async t => {
  const { promise: connected, resolve } = Promise.withResolvers<Wire>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(chunkedHead)
    resolve(wire)
    await wire.request()
  })
  const edge = await startEdge(t, [origin.url], { timeouts: { idle: 1_000, response: 600, total: 800 } })
  const client = await edge.connect()
  await client.send(request('GET /'))
  const wire = await connected
  const start = Date.now()
  for (let i = 0; Date.now() - start < 2_000; i++) {
    await wire.send(chunks(`data: ${i}\n\n`))
    await client.until(`data: ${i}\n\n`)
    if (i % 50 === 0) await new Promise(resolve => setTimeout(resolve, 50))
  }
  await wire.send('0\r\n\r\n')
  await client.until('0\r\n\r\n')
  assert.equal(edge.metrics.eventStreams.value, 0)
})

test('the head of a stream arrives before its first event', async t => {
  const { promise: arrived, resolve } = Promise.withResolvers<void>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(chunkedHead)
    await arrived
    await wire.send(`${chunks('data: 1\n\n')}0\r\n\r\n`)
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  assert.equal((await client.head()).field('content-type'), 'text/event-stream; charset=utf-8')
  resolve()
  await client.until('data: 1\n\n')
})

for (const [what, code, die] of [
  ['closes', 520, (wire: Wire) => wire.leave()],
  ['resets', 520, (wire: Wire) => wire.reset()],
  ['falls silent', 524, (wire: Wire) => wire.ending],
] as const) {
  test(`a stream whose origin ${what} gets a last event with the record, and no clean end`, async t => {
    const sent = chunkedHead + chunks('data: 1\n\n')
    const { edge, client, ray } = await watchEnding(t, sent, 'data: 1\n\n\r\n', die)
    const rest = await client.rest()
    assertLastEvent(rest.replace(/^[0-9a-f]+\r\n/, ''), code, ray)
    assert.doesNotMatch(rest, /\r\n0\r\n/)
    // A reset could overtake the event.
    assert.equal(await client.ending, 'FIN')
    assert.equal(edge.metrics.errors[code], 1)
    assert.equal(edge.metrics.eventStreams.value, 0)
  })
}

test('an event that was cut in its middle never looks whole', async t => {
  const sent = chunkedHead + chunks('data: 1\n\ndata: {"half')
  const { client, ray } = await watchEnding(t, sent, 'half\r\n', wire => wire.leave())
  const rest = (await client.rest()).replace(/^[0-9a-f]+\r\n/, '')
  assert.ok(rest.startsWith('\nevent: error\n'), rest)
  assertLastEvent(rest, 520, ray)
})

test('an HTTP/1.0 client gets the last event too', async t => {
  const sent = `${head}\r\ndata: 1\n\n`
  const { client, ray } = await watchEnding(t, sent, 'data: 1\n\n', wire => wire.reset(), 'HTTP/1.0')
  assertLastEvent(await client.rest(), 520, ray)
})

test('nothing is added to a stream with a length or a coding: it is cut', async t => {
  for (const sent of [
    `${head}Content-Length: 1000\r\n\r\ndata: 1\n\n`,
    `${head}Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n${chunks('data: 1\n\n')}`,
  ]) {
    const { client } = await watchEnding(t, sent, 'data: 1\n\n', wire => wire.leave())
    assert.equal(await client.ending, 'RST')
    assert.doesNotMatch(client.unread, /error/)
  }
})

test('valid events before the fault reach the client, and the last event is separate', async t => {
  const { promise: arrived, resolve } = Promise.withResolvers<void>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
    await wire.send(`${head}${chunks('data: par')}`)
    await arrived
    await wire.send(`${chunks('tial\n\ndata: two\n\n')}zz\r\n`)
    await wire.ending
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  await client.until('data: par')
  resolve()
  assert.match(await client.rest(), /tial\n\ndata: two\n\n\r\n[0-9a-f]+\r\nevent: error\ndata: \{/)
})
