// What responses say of themselves where a zone, or the whole gateway, wants it: Proxy-Status and Server-Timing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completion, json, startAi } from '../help/ai.ts'
import { Edge, edgeConfig, listenAt, startEdge, zoneTo } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { deadOrigin, ok, startResponder } from '../help/origin.ts'
import { request } from '../help/raw.ts'

const zone = { proxyStatus: true, serverTiming: true }
const timing = /^((dns|connect|tls|origin);dur=\d+(\.\d+)?, )*total;dur=\d+(\.\d+)?$/

test('responses of ours say why they are, by default not', async t => {
  const dead = deadOrigin().url
  const silent = await (await startEdge(t, [dead])).ask(request('GET /'))
  assert.deepEqual([silent.all('proxy-status'), silent.all('server-timing')], [[], []])
  const edge = await startEdge(t, [dead], { zone, name: 'gate' })
  const got = await edge.ask(request('GET /'))
  assert.equal(got.field('proxy-status'), 'gate; error=connection_refused')
  assert.match(got.field('server-timing')!, timing)
  const head = await edge.ask(request('HEAD /'))
  assert.equal(head.field('proxy-status'), 'gate; error=connection_refused')
  const preview = await edge.ask(request('GET /cdn-cgi/error/522'))
  assert.equal(preview.field('proxy-status'), 'gate; error=proxy_internal_response')
})

test('a response that came after a retry says so behind what the origin said; one at the first attempt says nothing', async t => {
  const origin = await startResponder(t, () => ok('', 'Proxy-Status: inner; received-status=200'))
  const edge = await startEdge(t, [deadOrigin().url, origin.url], { zone, pool: { ejection: null } })
  const answers = [await edge.ask(request('GET /')), await edge.ask(request('GET /'))]
  assert.deepEqual(
    answers.map(answer => answer.all('proxy-status')).toSorted((a, b) => a.length - b.length),
    [['inner; received-status=200'], ['inner; received-status=200', 'gatehouse; received-status=200']],
  )
  for (const answer of answers) assert.match(answer.field('server-timing')!, /origin;dur=/)
})

test('a WebSocket that opened after a retry says so', async t => {
  const origin = await startResponder(t, () =>
    switchedTo('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo='),
  )
  const edge = await startEdge(t, [deadOrigin().url, origin.url], { zone, pool: { ejection: null } })
  const said = async () => {
    const client = await edge.connect()
    await client.send(
      request(
        'GET /',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ),
    )
    const answer = await client.response('GET')
    assert.equal(answer.status, 101)
    assert.match(answer.field('server-timing')!, timing)
    client.leave()
    return answer.all('proxy-status')
  }
  assert.deepEqual([await said(), await said()].toSorted(), [[], ['gatehouse; received-status=101']])
})

const everywhere = { proxyStatus: true, serverTiming: true }

test('responses to requests of no zone do as the gateway is set, and those of a zone as it is', async t => {
  const origin = await startResponder(t, () => ok(''))
  for (const [ofAll, ofZone] of [
    [true, false],
    [false, true],
  ] as const) {
    const zone = { proxyStatus: ofZone, serverTiming: ofZone }
    const edge = await startEdge(t, [origin.url], { zone, proxyStatus: ofAll, serverTiming: ofAll })
    for (const [text, status, error] of [
      ['GET / HTTP/1.1\r\nHost: other.test\r\n\r\n', 409, 'destination_not_found'],
      ['GET / HTTP/1.0\r\n\r\n', 403, 'destination_not_found'],
      ['GET / HTTP/1.1\r\nHost: site.test\r\nNo colon\r\n\r\n', 400, 'http_request_error'],
      ['GET / HTTP/3.1\r\n\r\n', 505, 'http_request_error'],
    ] as const) {
      const got = await edge.ask(text)
      assert.equal(got.status, status, text)
      assert.deepEqual(got.all('proxy-status'), ofAll ? [`gatehouse; error=${error}`] : [], text)
      assert.equal(got.all('server-timing').length, ofAll ? 1 : 0, text)
    }
    const got = await edge.ask(request('GET /'))
    assert.deepEqual([got.all('proxy-status'), got.all('server-timing').length], [[], ofZone ? 1 : 0])
  }
})

test('responses on AI hosts do as the gateway is set', async t => {
  const replies = ['HTTP/1.1 429 Slow\r\nContent-Length: 2\r\n\r\n{}', json(completion)]
  const provider = await startResponder(t, () => replies.shift()!)
  const ai = await startAi(t, { openai: { url: provider.url, keys: ['a', 'b'] } }, everywhere)
  const call = (token: string) =>
    ai.edge.ask(
      `GET ${ai.native('openai')}/models HTTP/1.1\r\nHost: ai.test\r\nsvc-aig-authorization: Bearer ${token}\r\n\r\n`,
    )
  for (const token of ['', 'mistyped']) {
    const got = await call(token)
    assert.deepEqual([got.status, got.field('proxy-status')], [401, 'gatehouse; error=http_request_denied'])
    assert.match(got.field('server-timing')!, timing)
  }
  const got = await call(ai.token)
  assert.deepEqual(
    [got.status, got.field('proxy-status')],
    [200, 'gatehouse; received-status=200; attempts="openai=http_429, openai=ok"'],
  )
  assert.match(got.field('server-timing')!, /origin;dur=/)
})

test('what is said without an origin and is no failure is a response of ours, too', async t => {
  const { tls } = zoneTo([])
  const own = { ...zone, tls: { ...tls, redirect: true } }
  const edge = await startEdge(t, [deadOrigin().url], { zone: own })
  const { edge: ai } = await startAi(t, {}, everywhere)
  const challenge = { host: 'site.test', token: 'abc', keyAuthorization: 'abc.thumbprint', validation: null }
  const automatic = { identities: [], challenges: [challenge] }
  const ofAuthority = await listenAt(t, new Edge(t, edgeConfig([], everywhere), { automatic }))
  for (const [got, status] of [
    [await edge.ask(request('GET /')), 308],
    [await ofAuthority.ask(request('GET /.well-known/acme-challenge/abc')), 200],
    [await ai.ask('GET /.well-known/oauth-protected-resource HTTP/1.1\r\nHost: ai.test\r\n\r\n'), 200],
  ] as const) {
    assert.deepEqual(
      [got.status, got.field('proxy-status')],
      [status, 'gatehouse; error=proxy_internal_response'],
    )
    assert.match(got.field('server-timing')!, timing)
  }
})

test('requests of no zone over HTTP/2 say the same', async t => {
  const origin = await startResponder(t, () => ok(''))
  const edge = await startEdge(t, [origin.url], { h2c: true, ...everywhere })
  const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  const got = await ask(session, { ':authority': 'other.test' })
  assert.equal(got.headers['proxy-status'], 'gatehouse; error=destination_not_found')
  assert.match(got.headers['server-timing'] as string, timing)
})

function switchedTo(field: string): string {
  return `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${field}\r\n\r\n`
}
