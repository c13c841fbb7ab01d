// What is counted and logged of requests to MCP servers.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { readMcpCount } from '../../src/activity/tally-scopes.ts'
import type { McpConfig } from '../../src/config/model/mcp-config.ts'
import { mcpFamilies } from '../../src/metrics/families/mcp.ts'
import type { Counts } from '../../src/metrics/counters/counts.ts'
import { json } from '../help/ai.ts'
import { type Edge, startEdge } from '../help/edge.ts'
import { sign, startIssuer } from '../help/issuer.ts'
import { startMcpOrigin } from '../help/mcp-origin.ts'
import { deadOrigin, startOrigin, startResponder } from '../help/origin.ts'
import { post, request } from '../help/raw.ts'
import { until } from '../help/until.ts'

const deny = { methods: null, condition: null, action: 'deny', scopes: [], rate: null } as const
const mcp: McpConfig = {
  bodyLimit: 2 ** 20,
  origins: [],
  rules: [
    {
      ...deny,
      targets: [
        { kind: 'tool', pattern: 'delete_*' },
        { kind: 'tool', pattern: 'drop' },
      ],
    },
  ],
  otherwise: 'allow',
}

function makeServer(): McpServer {
  const server = new McpServer({ name: 'origin', version: '1' })
  server.registerTool('search', { inputSchema: z.object({}) }, () => ({ content: [] }))
  server.registerTool('fail', { inputSchema: z.object({}) }, () => ({ content: [], isError: true }))
  server.registerPrompt('hello', {}, () => ({ messages: [] }))
  return server
}

function start(t: TestContext, url: string): Promise<Edge> {
  return startEdge(t, [new URL(url).origin], { route: { path: '/mcp', mcp } })
}

function message(method: string, params: object = {}, id: number | null = 1): object {
  return { jsonrpc: '2.0', ...(id !== null && { id }), method, params }
}

const call = (name: string) => message('tools/call', { name, arguments: {} })

function ask(edge: Edge, body: unknown, ...more: string[]) {
  const fields = ['Content-Type: application/json', 'Accept: application/json, text/event-stream', ...more]
  const json = typeof body === 'string' ? body : JSON.stringify(body)
  return edge.ask(post('/mcp', json.replaceAll('\u202e', '\\u202e'), ...fields))
}

/** Lists the counters that have counted, as `method name result`. */
function counted(edge: Edge): Readonly<Record<string, number>> {
  const samples = mcpFamilies.gatehouse_mcp_requests_total!.read({ edge: edge.metrics } as Counts)
  const counting = samples.filter(({ value }) => value > 0)
  for (const { labels } of counting) assert.deepEqual([labels.zone, labels.route], ['site', '/mcp'])
  return Object.fromEntries(
    counting.map(({ labels: { method, name, result }, value }) => [`${method} ${name} ${result}`, value]),
  )
}

test('messages are counted by method, name and result, and only names that the server or a rule has are named', async t => {
  const { url } = await startMcpOrigin(t, makeServer)
  const edge = await start(t, url)
  for (const name of ['search', 'search', 'made-up', 'delete_all', 'drop', 'fail', '\u202emade-up'])
    await ask(edge, call(name))
  await ask(edge, message('prompts/get', { name: 'hello' }))
  await ask(edge, message('resources/read', { uri: 'file:///a' }))
  await ask(edge, message('made/up'))
  await ask(edge, message('tools/call', { name: 'made-up' }, null))
  await ask(edge, [call('search'), call('made-up')])
  await ask(edge, '{')
  await ask(edge, { jsonrpc: '2.0', id: 1, result: {} })
  await edge.ask(request('GET /mcp', 'Accept: text/event-stream'))
  assert.deepEqual(counted(edge), {
    'tools/call search answered': 2,
    'tools/call search failed': 1,
    'tools/call other failed': 4,
    'tools/call other refused': 1,
    'tools/call drop refused': 1,
    'tools/call other answered': 1,
    'prompts/get hello answered': 1,
    'resources/read  failed': 1,
    'other  failed': 1,
    'unread  refused': 1,
  })
  const told = edge.tallies.map(({ scope, name, count }) => [scope, name, count])
  const scope = 'mcp ["site","/mcp"]'
  assert.deepEqual(
    told
      .filter(([, name]) => !/^\["time/.test(String(name)))
      .filter(([of]) => of === scope)
      .toSorted(),
    [
      ['["message","other","","failed"]', 1],
      ['["message","prompts/get","hello","answered"]', 1],
      ['["message","resources/read","","failed"]', 1],
      ['["message","tools/call","drop","refused"]', 1],
      ['["message","tools/call","other","answered"]', 1],
      ['["message","tools/call","other","failed"]', 4],
      ['["message","tools/call","other","refused"]', 1],
      ['["message","tools/call","search","answered"]', 2],
      ['["message","tools/call","search","failed"]', 1],
      ['["message","unread","","refused"]', 1],
      ['["refusal","tools/call","drop","MCP rule 1"]', 1],
      ['["refusal","tools/call","other","MCP rule 1"]', 1],
      ['["refusal","unread","","JSON-RPC -32700"]', 1],
    ].map(one => [scope, ...one]),
  )
  const durations = mcpFamilies.gatehouse_mcp_request_duration_seconds!.read({ edge: edge.metrics } as Counts)
  const count = durations.find(
    ({ metricName, labels }) => metricName?.endsWith('_count') && labels.name === 'search',
  )
  assert.equal(count?.value, 3)
})

test('a call that its client cancels is no failure, and one whose server is down is', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.ending
  })
  const edge = await start(t, origin.url)
  const client = await edge.connect()
  await client.send(post('/mcp', JSON.stringify(call('search')), 'Content-Type: application/json'))
  await until(() => origin.wires.length > 0)
  client.leave()
  await until(() => edge.accesses.length > 0)
  assert.deepEqual(counted(edge), { 'tools/call other cancelled': 1 })
  const down = await start(t, deadOrigin().url)
  await ask(down, call('search'))
  assert.deepEqual(counted(down), { 'tools/call other failed': 1 })
})

test('the access log has method and name, within bounds, and none that is a credential', async t => {
  const edge = await start(t, deadOrigin().url)
  const token = `svct_${'a'.repeat(40)}`
  for (const body of [
    call('search'),
    [message('ping'), call('"\u202e'), call('b')],
    call('x'.repeat(5000)),
    call(`x${token}`),
    message('tools/list'),
  ])
    await ask(edge, body)
  const logged = edge.accesses.map(({ mcp }) => mcp as { readonly name: string | null })
  assert.deepEqual(logged[0], { method: 'tools/call', name: 'search', messages: 1 })
  assert.deepEqual(logged[1], { method: 'tools/call', name: '"\u202e', messages: 3 })
  assert.equal(logged[2]!.name, 'x'.repeat(256))
  assert.deepEqual(logged[3], { method: 'tools/call', name: '', messages: 1 })
  assert.deepEqual(logged[4], { method: 'tools/list', name: null, messages: 1 })
})

test('callers are counted by the subject that the gate lets in, and at most 200 in an hour by themselves', async t => {
  const origin = await startResponder(t, json({ jsonrpc: '2.0', id: 1, result: { content: [] } }))
  const { gate, key } = await startIssuer(t)
  const route = { path: '/mcp', mcp, protect: [gate] }
  const edge = await startEdge(t, [origin.url], { route })
  const askAs = async (sub: string) =>
    ask(edge, call('search'), `Authorization: Bearer ${await sign(key, { sub })}`)
  for (const sub of ['ann', 'bob', 'ann', 'x'.repeat(300)]) await askAs(sub)
  for (let i = 0; i < 200; i++) await askAs(`many-${i}`)
  await ask(edge, call('search'))
  const counts = new Map<string, number>()
  for (const { name, count } of edge.tallies.filter(({ kind }) => kind === 'mcp'))
    counts.set(name, (counts.get(name) ?? 0) + count)
  const callers = [...counts].flatMap(([name, count]) => {
    const [what, subject, result] = readMcpCount(name)
    return what === 'caller' ? [[subject, result, count] as const] : []
  })
  assert.equal(callers.length, 201)
  assert.deepEqual(callers[0]!.slice(1), ['answered', 2])
  assert.match(callers[0]![0], /ann$/)
  assert.deepEqual(
    callers.find(([subject]) => subject === 'other'),
    ['other', 'answered', 3],
  )
})
