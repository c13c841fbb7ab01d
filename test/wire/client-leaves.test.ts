// When the client goes away its origin hears of it at once: before the first byte, in mid-stream, in mid-upload.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Edge, startEdge } from '../help/edge.ts'
import { type Origin, ok, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, request, type Wire } from '../help/raw.ts'

const ways: Record<string, (client: Wire) => void> = {
  'closes its connection': client => client.leave(),
  'resets its connection': client => client.reset(),
}

/** Asserts that the origin is left soon, and that the exchange counts as an abort. */
async function assertLeft(origin: Origin, edge: Edge): Promise<void> {
  const left = Date.now()
  await (await origin.wire()).ending
  assert.ok(Date.now() - left < 20_000)
  assert.equal(edge.metrics.clientAborts.value, 1)
  assert.equal(edge.accesses[0]!.aborted, true)
}

const asks = {
  'HTTP/1.1': request('GET /'),
  'HTTP/1.0': 'GET / HTTP/1.0\r\nHost: site.test\r\n\r\n',
}
const cases = Object.entries(ways).flatMap(([what, go]) =>
  Object.entries(asks).map(([version, ask]) => ({ who: `a client of ${version} that ${what}`, go, ask })),
)

for (const { who, go, ask } of cases) {
  test(`${who} before the first byte ends the request`, async t => {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    const origin = await startOrigin(t, async wire => {
      await wire.request()
      resolve()
      await wire.request()
    })
    const edge = await startEdge(t, [origin.url])
    const client = await edge.connect()
    await client.send(ask)
    await asked
    go(client)
    await assertLeft(origin, edge)
  })

  test(`${who} while its small body was sent on ends the request`, async t => {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    const origin = await startOrigin(t, async wire => {
      await wire.request()
      resolve()
      await wire.request()
    })
    const edge = await startEdge(t, [origin.url])
    const client = await edge.connect()
    await client.send(`${ask.replace('GET', 'POST').replace('\r\n\r\n', '\r\nContent-Length: 2\r\n\r\n')}hi`)
    await asked
    go(client)
    await assertLeft(origin, edge)
  })

  test(`${who} in mid-stream ends the stream`, async t => {
    const origin = await startOrigin(t, async wire => {
      await wire.request()
      await wire.send(
        `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${chunks('data: 1\n\n')}`,
      )
      await wire.request()
    })
    const edge = await startEdge(t, [origin.url])
    const client = await edge.connect()
    await client.send(ask)
    await client.until('data: 1\n\n')
    assert.equal(edge.metrics.eventStreams.value, 1)
    go(client)
    await assertLeft(origin, edge)
    assert.equal(edge.metrics.eventStreams.value, 0)
  })

  test(`${who} in mid-download ends the download`, async t => {
    const origin = await startOrigin(t, async wire => {
      await wire.request()
      await wire.send('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nbegin')
      const timer = setInterval(() => wire.socket.write('more'), 20)
      await wire.ending
      clearInterval(timer)
    })
    const edge = await startEdge(t, [origin.url])
    const client = await edge.connect()
    await client.send(ask)
    await client.until('begin')
    go(client)
    await assertLeft(origin, edge)
  })
}

for (const [what, go] of Object.entries(ways)) {
  test(`a client that ${what} in mid-upload ends the upload, which is never whole`, async t => {
    const origin = await startOrigin(t, wire => wire.request())
    const edge = await startEdge(t, [origin.url])
    const client = await edge.connect()
    await client.send(`${request('POST /', 'Transfer-Encoding: chunked')}${chunks('x'.repeat(100_000))}`)
    await (await origin.wire()).until('x'.repeat(60_000))
    go(client)
    await assertLeft(origin, edge)
    assert.doesNotMatch((await origin.wire()).unread, /0\r\n\r\n$/)
  })
}

test('a client that leaves in mid-download while it does not read ends the download', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(`HTTP/1.1 200 OK\r\nContent-Length: ${64 * 1024 * 1024}\r\n\r\n`)
    await wire.send(Buffer.alloc(64 * 1024 * 1024))
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  client.socket.pause()
  await client.send(request('GET /'))
  await origin.wire()
  client.leave()
  await assertLeft(origin, edge)
})

test('nothing is sent to an origin for a client that left before its small body was complete', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(`${request('POST /', 'Content-Length: 10')}hello`)
  client.leave()
  await edge.ask(request('GET /'))
  assert.deepEqual(
    origin.requests.map(({ startLine }) => startLine),
    ['GET / HTTP/1.1'],
  )
  assert.equal(edge.metrics.clientAborts.value, 1)
})

test('one client that leaves does not disturb another on the same origin', async t => {
  const origin = await startResponder(t, async ({ target }, wire) => {
    if (target === '/stay') return ok('stayed')
    await wire.request()
    return undefined
  })
  const edge = await startEdge(t, [origin.url])
  const stays = await edge.connect()
  const leaves = await edge.connect()
  await leaves.send(request('GET /leave'))
  await stays.send(request('GET /stay'))
  assert.equal((await stays.response()).text, 'stayed')
  leaves.leave()
  await stays.send(request('GET /stay'))
  assert.equal((await stays.response()).text, 'stayed')
})
