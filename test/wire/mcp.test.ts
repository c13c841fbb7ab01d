// Routes to MCP servers: which requests reach one, and what the client of one that does not is told.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { McpConfig } from '../../src/config/model/mcp-config.ts'
import { type Edge, startEdge } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { sign, startIssuer } from '../help/issuer.ts'
import { deadOrigin, ok, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, type Message, request } from '../help/raw.ts'

const open: McpConfig = { bodyLimit: 2 ** 20, origins: [], rules: [], otherwise: 'allow' }
const json = 'Content-Type: application/json'
const modern = 'MCP-Protocol-Version: 2026-07-28'

/** A message with its length, as a client of 2025 sends it. */
function message(content: unknown, ...fields: string[]): string {
  const body = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)).toString('latin1')
  return `${request('POST /mcp', json, ...fields, `Content-Length: ${body.length}`)}${body}`
}

function call(tool: string, id: unknown = 7): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool, arguments: {} } }
}

async function start(t: TestContext, mcp: McpConfig = open) {
  const origin = await startResponder(t, ok('{}', 'Content-Type: application/json'))
  const edge = await startEdge(t, [origin.url], { route: { path: '/mcp', mcp } })
  return { edge, origin }
}

/** Reads an error of JSON-RPC, and asserts that its data is the record. */
function errorOf(answer: Message) {
  assert.equal(answer.field('content-type'), 'application/json')
  const { jsonrpc, id, error } = JSON.parse(answer.text)
  assert.equal(jsonrpc, '2.0')
  assert.deepEqual([error.data.svc_error, error.data.status], [true, answer.status])
  assert.equal(error.data.ray_id, answer.field('svc-ray'))
  return { status: answer.status, id, code: error.code, data: error.data }
}

async function refusalOf(edge: Edge, text: string) {
  const { status, id, code } = errorOf(await edge.ask(text))
  return [status, id, code]
}

test('a message reaches the server byte by byte, in one piece, in chunks, and when it is large', async t => {
  const { edge, origin } = await start(t)
  const small = JSON.stringify(call('search', 'a'), null, 1)
  const large = JSON.stringify({ ...call('search'), padding: 'x'.repeat(300_000) })
  for (const body of [small, large]) {
    assert.equal((await edge.ask(message(body))).status, 200)
    const chunked = request('POST /mcp', json, 'Transfer-Encoding: chunked')
    assert.equal((await edge.ask(`${chunked}${chunks(body)}0\r\n\r\n`)).status, 200)
  }
  const sent = origin.requests.map(({ text }) => text)
  assert.deepEqual(sent, [small, small, large, large])
  assert.equal(edge.metrics.ai.bodyBytes.value, 0)
})

test('what is no message is refused with the code and the id that JSON-RPC has for it', async t => {
  const { edge, origin } = await start(t)
  const refused: readonly [text: string, status: number, id: unknown, code: number][] = [
    [message('{"jsonrpc"'), 400, null, -32700],
    [message(''), 400, null, -32700],
    [message(call('search', 'é'), 'Mcp-Method: tools/list'), 400, 'é', -32020],
    [message(call('a'), 'Mcp-Session-Id: a', 'Mcp-Session-Id: b'), 400, null, -32600],
    [message(call('a'), 'Mcp_Session_Id: a'), 400, null, -32600],
    [message(call('a')).replace(json, 'Content-Type: application/json; charset=utf-7'), 415, null, -32000],
    [message(call('a')).replace(json, 'Content-Type: text/plain'), 415, null, -32000],
    [message(call('a')).replace(json, 'X-A: b'), 415, null, -32000],
    [message(call('a'), 'Content-Encoding: deflate'), 415, null, -32000],
    [request('PUT /mcp', json, 'Content-Length: 2').concat('{}'), 405, null, -32000],
    [request('GET /mcp', 'Content-Length: 2').concat('{}'), 400, null, -32600],
    [request('GET /mcp', modern), 405, null, -32000],
    [request('GET /mcp', 'Connection: Upgrade', 'Upgrade: websocket'), 400, null, -32000],
  ]
  for (const [text, ...expected] of refused) assert.deepEqual(await refusalOf(edge, text), expected, text)
  assert.equal(origin.requests.length, 0)
  const { data } = errorOf(await edge.ask(message(call('a'), 'Mcp-Method: b')))
  assert.deepEqual(data.mismatch, { field: 'Mcp-Method', header: 'b', body: 'tools/call' })
})

test('the stream of a client of 2025 and the end of its session have no message', async t => {
  const { edge, origin } = await start(t)
  for (const method of ['GET', 'DELETE', 'OPTIONS'])
    assert.equal((await edge.ask(request(`${method} /mcp`))).status, 200)
  assert.deepEqual(
    origin.requests.map(({ startLine }) => startLine),
    ['GET /mcp HTTP/1.1', 'DELETE /mcp HTTP/1.1', 'OPTIONS /mcp HTTP/1.1'],
  )
})

test('pages of the site itself and of those that are listed may call, and no others', async t => {
  const { edge, origin } = await start(t, { ...open, origins: ['https://app.test'] })
  const from = (page: string, host = 'site.test') =>
    edge.ask(message(call('a'), `Origin: ${page}`).replace('Host: site.test', `Host: ${host}`))
  assert.equal((await from('http://site.test')).status, 200)
  assert.equal((await from('http://site.test:81', 'site.test:81')).status, 200)
  assert.equal((await from('https://app.test')).status, 200)
  for (const page of [
    'https://site.test',
    'http://site.test:81',
    'http://evil.test',
    'null',
    'https://app.test.',
  ])
    assert.deepEqual([errorOf(await from(page)).status, page], [403, page])
  assert.equal(edge.accesses.at(-1)!.cause, 'page of another site')
  assert.equal(origin.requests.length, 3)
})

test('a name that leads here and that no zone lists gives its pages no way in', async t => {
  const origin = await startResponder(t, ok('{}'))
  const zone = { isDefault: true }
  const edge = await startEdge(t, [origin.url], { route: { path: '/mcp', mcp: open }, zone })
  const rebound = message(call('a'), 'Origin: http://evil.test').replace('Host: site.test', 'Host: evil.test')
  assert.equal(errorOf(await edge.ask(rebound)).status, 403)
})

test('a server that is down is an error of JSON-RPC with the id of the call', async t => {
  const edge = await startEdge(t, [deadOrigin().url], { route: { path: '/mcp', mcp: open } })
  const { data, ...rest } = errorOf(await edge.ask(message(call('search', 12))))
  assert.deepEqual(rest, { status: 521, id: 12, code: -32000 })
  assert.equal(data.error_name, 'origin_down')
})

test('a stream whose server dies ends with the response to its call, and one without a call with the record', async t => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(`${head}${chunks(': hello\n\n')}`)
  })
  const edge = await startEdge(t, [origin.url], { route: { path: '/mcp', mcp: open } })
  const { text } = await edge.ask(message(call('search', 'x')))
  const [comment, event] = text.split('\n\n')
  assert.equal(comment, ': hello')
  const { id, error } = JSON.parse(event!.replace(/^data: /, ''))
  assert.deepEqual([id, error.code, error.data.svc_error], ['x', -32000, true])
  const client = await edge.connect()
  await client.send(request('GET /mcp'))
  await client.until('event: error\ndata: {')
})

test('pages of a site that is listed may ask before they call, and read what comes', async t => {
  const origin = await startResponder(t, ok('{}', 'Access-Control-Allow-Origin: *'))
  const rewrite = {
    ...{ path: null, requestHeaders: [] },
    responseHeaders: [{ name: 'X-A', value: '"b"' }],
  }
  const mcp = { ...open, origins: ['https://app.test'] }
  const { gate, key } = await startIssuer(t)
  const route = { path: '/mcp', mcp, rewrite, protect: [gate] }
  const edge = await startEdge(t, [origin.url], { route })
  const asks = ['Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: mcp-method']
  const preflight = (site: string) => edge.ask(request('OPTIONS /mcp', `Origin: ${site}`, ...asks))
  const allowed = await preflight('https://app.test')
  assert.equal(allowed.status, 204)
  assert.equal(allowed.field('access-control-allow-origin'), 'https://app.test')
  assert.equal(allowed.field('access-control-allow-headers'), 'mcp-method')
  assert.equal((await preflight('https://evil.test')).field('access-control-allow-origin'), null)
  const token = `Authorization: Bearer ${await sign(key)}`
  const answer = await edge.ask(message(call('a'), 'Origin: https://app.test', token))
  assert.deepEqual([answer.status, answer.field('x-a')], [200, 'b'])
  assert.equal(answer.field('access-control-allow-origin'), 'https://app.test')
  const refused = await edge.ask(message(call('a'), 'Origin: https://app.test'))
  assert.equal(refused.field('access-control-allow-origin'), 'https://app.test')
  assert.deepEqual(
    [errorOf(refused).status, /resource_metadata=/.test(refused.field('www-authenticate')!)],
    [401, true],
  )
  assert.equal(origin.requests.length, 1)
})

test('what a server says of tokens passes where nothing is protected, and the tokens with it', async t => {
  const challenge = 'WWW-Authenticate: Bearer resource_metadata="https://tools.example/metadata"'
  const refusal = `HTTP/1.1 401 Unauthorized\r\n${challenge}\r\nContent-Length: 0\r\n\r\n`
  const origin = await startResponder(t, refusal)
  const edge = await startEdge(t, [origin.url], { route: { path: '/mcp', mcp: open } })
  const answer = await edge.ask(message(call('a'), 'Authorization: Bearer its-own'))
  assert.deepEqual([answer.status, `WWW-Authenticate: ${answer.field('www-authenticate')}`], [401, challenge])
  assert.equal(origin.requests[0]!.field('authorization'), 'Bearer its-own')
})

test('a client that closes its stream cancels the call', async t => {
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send(`${head}${chunks(': waiting\n\n')}`)
    resolve(
      await wire.rest().then(
        () => 'FIN',
        () => 'RST',
      ),
    )
  })
  const edge = await startEdge(t, [origin.url], { route: { path: '/mcp', mcp: open } })
  const client = await edge.connect()
  await client.send(message(call('slow')))
  await client.until(': waiting')
  client.reset()
  assert.match(await ended, /FIN|RST/)
})

test('over HTTP/2, messages are read and refused as they are over HTTP/1.1', async t => {
  const origin = await startResponder(t, ok('{}'))
  const edge = await startEdge(t, [origin.url], { h2c: true, route: { path: '/mcp', mcp: open } })
  const client = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  const send = (body: string, fields = {}) =>
    ask(client, { ':method': 'POST', ':path': '/mcp', 'content-type': 'application/json', ...fields }, body)
  const body = JSON.stringify(call('search', 3))
  assert.equal((await send(body)).status, 200)
  const refused = await send(body, { 'mcp-method': 'tools/list' })
  assert.deepEqual([refused.status, JSON.parse(refused.body.toString()).id], [400, 3])
  assert.deepEqual(
    origin.requests.map(({ text }) => text),
    [body],
  )
})
