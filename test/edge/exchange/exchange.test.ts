// Which exchanges long work waits for, and until when.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shortExchanges } from '../../../src/base/turns/short-exchanges.ts'
import { call, json, startAi } from '../../help/ai.ts'
import { Edge, edgeConfig, listenAt, startEdge } from '../../help/edge.ts'
import { ask, connectHttp2 } from '../../help/http2-client.ts'
import { ok, startOrigin } from '../../help/origin.ts'
import { turnsUntil } from '../../help/until.ts'
import { chunks, request, type Wire } from '../../help/raw.ts'

const handshake = request(
  'GET /socket',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
)
const switched =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'
const streamed = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'

const endings: Readonly<Record<string, { readonly sent?: string; readonly response: string | null }>> = {
  'a response': { response: ok('hello') },
  'the head of a long response': { response: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello' },
  'an event stream that goes on': { response: `${streamed}${chunks('data: hello\n\n')}` },
  'a WebSocket that goes on': { sent: handshake, response: switched },
  'an origin that hangs up': { sent: request('POST /', 'Content-Length: 0'), response: null },
}

for (const [what, { sent = request('GET /'), response }] of Object.entries(endings))
  test(`an exchange is waited for from its beginning until ${what}`, async t => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<Wire>()
    const origin = await startOrigin(t, async wire => {
      await wire.request()
      arrive(wire)
      await wire.ending
    })
    const edge = await startEdge(t, [origin.url])
    const client = await edge.connect()
    await client.send(sent)
    const wire = await arrived
    assert.equal(shortExchanges.count, 1)
    if (response === null) wire.leave()
    else await wire.send(response)
    await client.head()
    assert.equal(shortExchanges.count, 0)
    client.leave()
  })

test('an exchange over HTTP/2 is waited for until the head of its response', async t => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<Wire>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    arrive(wire)
    await wire.ending
  })
  const edge = await listenAt(t, new Edge(t, edgeConfig([origin.url], { h2c: true })))
  const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  const responses = ['GET', 'DELETE'].map(method =>
    ask(session, { ':method': method, ':path': '/', ':authority': 'site.test' }),
  )
  await arrived
  assert.ok(shortExchanges.count >= 1)
  for (const nth of [0, 1]) await (await origin.wire(nth)).send(ok('hello'))
  await Promise.all(responses)
  assert.equal(shortExchanges.count, 0)
})

test('an exchange is waited for no longer once its client has left, or it is refused', async t => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<Wire>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    arrive(wire)
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  await arrived
  assert.equal(shortExchanges.count, 1)
  client.reset()
  await turnsUntil(() => shortExchanges.count === 0)
  const other = await edge.connect()
  await other.send('GET / HTTP/1.1\r\nHost: elsewhere.test\r\n\r\n')
  await other.response()
  assert.equal(shortExchanges.count, 0)
})

test('a call of a provider is waited for by nobody while the provider thinks', async t => {
  const counts: number[] = []
  const provider = await startOrigin(t, async wire => {
    await wire.request()
    counts.push(shortExchanges.count)
    await wire.send(json({}))
  })
  const ai = await startAi(t, { openai: provider.url })
  const client = await ai.edge.connect()
  const token = `svc-aig-authorization: Bearer ${ai.token}`
  await client.send(call(`${ai.native('openai')}/chat/completions`, '{}', token))
  assert.equal((await client.response()).status, 200)
  assert.deepEqual(counts, [0])
})
