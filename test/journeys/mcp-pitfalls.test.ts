// What goes wrong where others put a gateway before MCP servers, tried here.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { startGateway } from '../help/gateway.ts'
import { Jar } from '../help/jar.ts'
import { startEverything } from '../help/mcp-origin.ts'
import { settle, tokenFor } from './mcp-town.ts'

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A call of a tool without a session. */
function call(name: string, token: string, more: Record<string, string> = {}) {
  return {
    method: 'POST',
    headers: {
      ...{ ...json, authorization: `Bearer ${token}`, 'mcp-protocol-version': '2026-07-28' },
      ...{ 'mcp-method': 'tools/call', 'mcp-name': name, ...more },
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name, arguments: { message: 'hi' }, _meta: meta },
    }),
  }
}

test('behind the gate of a route', async t => {
  const town = await settle(t)
  const { token, back } = await tokenFor(town, town.stateless)

  await t.test('the authorization server says who it is when it calls back', () => {
    assert.equal(back.get('iss'), town.stateless.origin)
  })

  await t.test('a token is good for its own route alone', async () => {
    assert.equal((await fetch(town.stateless, call('echo', token))).status, 200)
    const other = await fetch(town.sessions, call('echo', token))
    assert.equal(other.status, 401)
    assert.match(other.headers.get('www-authenticate')!, /error="invalid_token"/)
  })

  await t.test('the metadata of the route name it, and no scope that only refreshes', async () => {
    const metadata = new URL('/.well-known/oauth-protected-resource/stateless/mcp', town.stateless)
    const { resource, authorization_servers, scopes_supported } = await (await fetch(metadata)).json()
    assert.deepEqual(
      [resource, authorization_servers, scopes_supported.toSorted()],
      [town.stateless.href, [town.stateless.origin], ['tools.more', 'tools.sum', 'tools.use']],
    )
  })

  await t.test('fields of parameters that nobody here knows reach the server', async () => {
    await (await fetch(town.stateless, call('echo', token, { 'mcp-param-region': '=?base64?w7w=?=' }))).text()
    assert.equal(town.origin.heads.at(-1)!['mcp-param-region'], '=?base64?w7w=?=')
  })

  await t.test('a tool that its field does not name is not called', async () => {
    const before = town.origin.heads.length
    const { headers, ...rest } = call('get-env', token)
    const response = await fetch(town.stateless, { ...rest, headers: { ...headers, 'mcp-name': 'echo' } })
    assert.deepEqual([response.status, (await response.json()).error.code], [400, -32020])
    assert.equal(town.origin.heads.length, before)
  })

  await t.test(
    'a forbidden tool cannot be called in a version without fields, or by its escapes',
    async () => {
      const body = '{"jsonrpc":"2.0","id":1,"method":"tools\\/call","params":{"n\\u0061me":"get\\u002denv"}}'
      const headers = { ...json, authorization: `Bearer ${token}` }
      const response = await fetch(town.stateless, { method: 'POST', headers, body })
      assert.equal(response.status, 403)
    },
  )

  await t.test('a method in another case cannot hide one', async () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"get-env"}}'
    const headers = { ...json, authorization: `Bearer ${token}` }
    const response = await fetch(town.stateless, { method: 'POST', headers, body })
    assert.deepEqual([response.status, (await response.json()).error.code], [400, -32600])
  })
})

test('a challenge has the scheme and host that the client uses, where TLS ends before', async t => {
  const gateway = await startGateway(
    t,
    `trusted_proxies: [127.0.0.1]
oauth: { issuer: 'https://id.example.com' }
scopes: { tools.use: Use the tools. }
pools:
  tools: { origins: ['http://127.0.0.1:9'] }
zones:
  - hosts: [mcp.example.com]
    routes:
      - { path: /mcp, pool: tools, mcp: true, protect: { token: { scopes: [tools.use] } } }
`,
  )
  const { port } = new URL(gateway.edge)
  const headers = { ...json, host: 'mcp.example.com', 'x-forwarded-proto': 'https' }
  const { status, headers: fields } = await new Jar().ask(`http://mcp.example.com:${port}/mcp`, {
    ...{ method: 'POST', headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' },
  })
  assert.equal(status, 401)
  assert.match(
    String(fields['www-authenticate']),
    /resource_metadata="https:\/\/mcp\.example\.com\/\.well-known\/oauth-protected-resource\/mcp"/,
  )
})

/** A session that begins at one gateway goes on at another one. */
test('a session is in no memory of a gateway', async t => {
  const servers = [await startEverything(t), await startEverything(t), await startEverything(t)]
  const yaml = `pools:
  tools: { origins: [${servers.map(url => `'${new URL(url).origin}'`).join()}] }
zones:
  - hosts: ['127.0.0.1']
    routes: [{ path: /mcp, pool: tools, mcp: true }]
`
  const [one, other] = [await startGateway(t, yaml), await startGateway(t, yaml)]
  for (let i = 0; i < 4; i++) {
    const first = new StreamableHTTPClientTransport(new URL(`${one.edge}/mcp`))
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(first as never)
    t.after(() => client.close())
    const { sessionId, protocolVersion } = first
    const elsewhere = await fetch(`${other.edge}/mcp`, {
      method: 'POST',
      headers: { ...json, 'mcp-session-id': sessionId!, 'mcp-protocol-version': protocolVersion! },
      body: '{"jsonrpc":"2.0","id":9,"method":"tools/list"}',
    })
    assert.equal(elsewhere.status, 200)
    assert.match(await elsewhere.text(), /get-env/)
  }
})

test('comments that keep a stream open come when they are sent', async t => {
  const { promise: isRead, resolve: read } = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    response.write(': still here\n\n')
    await isRead
    response.end('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const gateway = await startGateway(
    t,
    `pools:
  tools: { origins: ['http://127.0.0.1:${(server.address() as AddressInfo).port}'] }
zones:
  - hosts: ['127.0.0.1']
    routes: [{ path: /mcp, pool: tools, mcp: true }]
`,
  )
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  const response = await fetch(`${gateway.edge}/mcp`, { method: 'POST', headers: json, body })
  assert.equal(response.headers.get('x-accel-buffering'), 'no')
  const pieces: string[] = []
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    pieces.push(piece)
    read()
  }
  assert.deepEqual(pieces, [': still here\n\n', 'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'])
})
