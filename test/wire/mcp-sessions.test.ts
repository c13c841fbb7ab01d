// Sessions of MCP servers before 2026-07-28: each stays with the origin that began it, and its end is told.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { McpConfig } from '../../src/config/model/mcp-config.ts'
import { type Edge, edgeConfig, startEdge } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { type Message, request } from '../help/raw.ts'

const mcp: McpConfig = { bodyLimit: 2 ** 20, origins: [], rules: [], otherwise: 'allow' }
const route = { path: '/mcp', mcp }

/** An origin that begins sessions of its own, and tells which of them it was asked in. */
async function startServer(t: TestContext, name: string) {
  let count = 0
  return startResponder(t, ({ text, lines }) => {
    const own = lines.filter(line => /^mcp-session-id:/i.test(line))
    if (!text.includes('"initialize"')) return ok(`${name} ${own.join()}`)
    return ok(name, `mcp-session-id: ${name}-${++count}~0000`)
  })
}

function message(method: string, ...fields: string[]): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 5, method, params: {} })
  const length = `Content-Length: ${body.length}`
  return `${request('POST /mcp', 'Content-Type: application/json', length, ...fields)}${body}`
}

async function begin(edge: Edge) {
  const { text: server, ...answer } = await edge.ask(message('initialize')).then(readable)
  return { server, session: `Mcp-Session-Id: ${answer.session}` }
}

function readable(answer: Message) {
  return { text: answer.text, status: answer.status, session: answer.field('mcp-session-id') }
}

function assertGone(answer: Message): void {
  const { id, error } = JSON.parse(answer.text)
  assert.deepEqual([answer.status, id, error.code, error.data.error_name], [404, 5, -32001, 'not_found'])
}

test('all requests of a session get to the origin that began it, with the id that this gave it', async t => {
  const servers = [await startServer(t, 'a'), await startServer(t, 'b'), await startServer(t, 'c')]
  const edge = await startEdge(
    t,
    servers.map(({ url }) => url),
    { route },
  )
  const sessions = await Promise.all(Array.from({ length: 9 }, () => begin(edge)))
  assert.deepEqual([...new Set(sessions.map(({ server }) => server))].sort(), ['a', 'b', 'c'])
  for (const { server, session } of sessions) {
    const own = `${server} Mcp-Session-Id: ${/: (.*)~[0-9a-f]{4}$/.exec(session)![1]}`
    assert.match(own, /^([abc]) .* \1-\d~0000$/)
    for (const text of [
      message('ping', session),
      request('GET /mcp', session),
      request('DELETE /mcp', session),
    ])
      assert.equal((await edge.ask(text)).text, own)
  }
})

test('a session is gone when its origin has left the pool, and for what never was one', async t => {
  const [a, b] = [await startServer(t, 'a'), await startServer(t, 'b')]
  const edge = await startEdge(t, [a.url, b.url], { route })
  const sessions = [await begin(edge), await begin(edge)]
  edge.reload(edgeConfig([b.url], { route }))
  for (const { server, session } of sessions) {
    const answer = await edge.ask(message('ping', session))
    if (server === 'a') assertGone(answer)
    else assert.equal(answer.status, 200)
  }
  for (const id of ['b-1', 'b-1~0000', 'b-1~', '~', ''])
    assertGone(await edge.ask(message('ping', `Mcp-Session-Id: ${id}`)))
  assert.deepEqual(new Set(b.requests.flatMap(sent => sent.all('mcp-session-id'))), new Set(['b-1~0000']))
})

test('a session whose origin is down is refused and never gets to another one, and is gone once that is known', async t => {
  const [a, b] = [await startServer(t, 'a'), await startServer(t, 'b')]
  const edge = await startEdge(t, [a.url, b.url], { route, timeouts: { connect: 500 } })
  const sessions = [await begin(edge), await begin(edge)]
  const { session } = sessions.find(({ server }) => server === 'a')!
  const asked = b.requests.length
  await a.close()
  const statuses: number[] = []
  for (let i = 0; i < 12; i++) {
    const answer = await edge.ask(message('ping', session))
    statuses.push(answer.status)
    if (answer.status === 404) assertGone(answer)
  }
  assert.deepEqual([statuses[0], statuses.at(-1), b.requests.length], [521, 404, asked])
  assert.equal((await begin(edge)).server, 'b')
})

test('since 2026-07-28 there are no sessions, and an id of one means nothing', async t => {
  const servers = [await startServer(t, 'a'), await startServer(t, 'b')]
  const edge = await startEdge(
    t,
    servers.map(({ url }) => url),
    { route },
  )
  const params = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'server/discover', params })
  const fields = ['MCP-Protocol-Version: 2026-07-28', 'Mcp-Method: server/discover', 'Mcp-Session-Id: x']
  const length = `Content-Length: ${body.length}`
  const head = request('POST /mcp', 'Content-Type: application/json', length, ...fields)
  assert.match((await edge.ask(`${head}${body}`)).text, /^[ab] Mcp-Session-Id: x$/)
})
