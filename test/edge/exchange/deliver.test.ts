// What custom content may not touch, and what may not keep a client from learning of the error.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, startAi } from '../../help/ai.ts'
import { errorRule as rule } from '../../help/custom-errors.ts'
import { Edge, edgeConfig, listenAt, noCustomErrors, recordOf, startEdge } from '../../help/edge.ts'
import { startOrigin, startResponder } from '../../help/origin.ts'
import { chunks, request } from '../../help/raw.ts'

const pages = {
  '500_errors': 'page',
  '1000_errors': 'page',
  ip_block: 'page',
  waf_block: 'page',
  ratelimit_block: 'page',
}
const everything = { rules: [rule({ content: 'custom' })], pages }
const json = 'Accept: application/json'
const dead = ['http://127.0.0.1:1']

test('a bug on the way to custom content is logged and counted, and hides no error', async t => {
  const geo = {
    countryOf: () => {
      throw new Error('the database is torn')
    },
    networkOf: () => 0,
  }
  const lists = { get: () => assert.fail('no list is asked for') }
  for (const errors of [
    { rules: [], pages: { '500_errors': 'from ::GEO::' } },
    { rules: [rule({ content: 'from ::GEO::' })], pages: {} },
  ]) {
    const config = edgeConfig(dead, { errors })
    const edge = await listenAt(t, new Edge(t, config, { access: { lists, geo } }))
    const client = await edge.connect()
    for (let i = 1; i <= 2; i++) {
      await client.send(request('GET /', json))
      assert.equal(recordOf(await client.response()).error_code, 521)
      assert.equal(edge.metrics.customErrorFailures.value, i)
      assert.match(JSON.stringify(edge.events.at(-1)), /custom content.*|the database is torn/)
    }
    assert.equal(edge.metrics.customErrors.account_page.value, 0)
  }
})

test('callers of models keep the record that their SDKs read', async t => {
  const ai = await startAi(t, { openai: 'http://127.0.0.1:1' }, { errors: everything })
  const chat = '{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"Hi"}]}'
  const path = `${ai.rest}/v1/chat/completions`
  const refused = await ai.edge.ask(call(path, chat, json))
  assert.deepEqual(JSON.parse(refused.text).errors, [{ code: 10000, message: 'Authentication error' }])
  const failed = await ai.edge.ask(call(path, chat, json, `Authorization: Bearer ${ai.token}`))
  assert.equal(recordOf(failed).error_code, 521)
  assert.equal(failed.field('x-should-retry'), 'true')
  const nowhere = await ai.edge.ask(call('/nowhere', '{}'))
  assert.notEqual(nowhere.text, 'custom')
})

test('the last event of a stream stays the record', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
    )
    await wire.send(chunks('data: 1\n\n'))
    wire.leave()
  })
  const edge = await startEdge(t, [origin.url], { errors: everything })
  const client = await edge.connect()
  await client.send(request('GET /'))
  const stream = await client.rest()
  assert.match(stream, /event: error\ndata: \{"type":.*"error_code":520/)
  assert.doesNotMatch(stream, /custom|page/)
})

test('a refused upgrade gets custom content as well', async t => {
  const edge = await startEdge(t, dead, { errors: everything })
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  const answer = await edge.ask(request('GET /', ...upgrade, 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='))
  assert.deepEqual([answer.status, answer.text], [521, 'custom'])
})

test('a body that was not read does not become the next request after custom content', async t => {
  const origin = await startResponder(t, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  const edge = await startEdge(t, [origin.url], { errors: everything, route: { bodyLimit: 10 } })
  const client = await edge.connect()
  await client.send('POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 99\r\n\r\nGET / HTTP/1.1\r\n')
  const answer = await client.response()
  assert.deepEqual([answer.status, answer.text, answer.field('connection')], [413, 'custom', 'close'])
  await client.ending
})

test('another zone has what is its own', async t => {
  const other = edgeConfig(dead, { zone: { name: 'other', hosts: ['other.test'], errors: noCustomErrors } })
  const edge = await startEdge(t, dead, { zone: { errors: everything }, zones: other.zones })
  assert.equal((await edge.ask(request('GET /'))).text, 'custom')
  const answer = await edge.ask(`GET / HTTP/1.1\r\nHost: other.test\r\n${json}\r\n\r\n`)
  assert.equal(recordOf(answer).error_code, 521)
})
