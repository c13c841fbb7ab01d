// Requests are judged as the server of the protocol's own SDK judges them.

import { deepEqual, ok } from 'node:assert/strict'
import { after, test } from 'node:test'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { judge } from '../../src/mcp/agreement.ts'
import { isMcpFault } from '../../src/mcp/fault.ts'
import { thorough } from '../help/thorough.ts'

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'reference', version: '1' })
  server.registerTool('add', {}, () => ({ content: [] }))
  return server
})
after(() => handler.close())

interface Asked {
  readonly version: string | null
  readonly method: string | null
  readonly name: string | null
  readonly body: unknown
}

/** The code with which the server refuses a request before it gets to a tool; null for one that it serves. */
async function refusedByReference({ version, method, name, body }: Asked): Promise<number | null> {
  const headers = new Headers({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  })
  if (version !== null) headers.set('MCP-Protocol-Version', version)
  if (method !== null) headers.set('Mcp-Method', method)
  if (name !== null) headers.set('Mcp-Name', name)
  const response = await handler.fetch(
    new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(body) }),
  )
  const text = await response.text()
  return response.status === 400 ? JSON.parse(text).error.code : null
}

function refusedHere({ body, ...fields }: Asked): number | null {
  const outcome = judge(fields, Buffer.from(JSON.stringify(body)))
  return isMcpFault(outcome) ? outcome.code : null
}

/** A body that says it has a version with sessions goes to the server, which may know only these. */
const stateless = ['2026-07-28', '2026-07-28', '2027-01-01']
const versions = [...stateless, '2025-11-25']
const method = fc.constantFrom('tools/call', 'tools/list', 'prompts/get', 'server/discover', 'initialize')
const names = ['add', 'schön', '=?base64?YWRk?=', 'tasks']
const encoded = names.map(name => `=?base64?${Buffer.from(name).toString('base64')}?=`)
const meta = fc.record({
  'io.modelcontextprotocol/protocolVersion': fc.constantFrom(...stateless),
  'io.modelcontextprotocol/clientInfo': fc.constant({ name: 'test', version: '1' }),
  'io.modelcontextprotocol/clientCapabilities': fc.constant({}),
})
const message = fc.record(
  {
    jsonrpc: fc.constant('2.0'),
    id: fc.constantFrom<unknown>(1, 'a'),
    method,
    params: fc.record({ name: fc.constantFrom(...names), _meta: meta }, { requiredKeys: ['name'] }),
  },
  { requiredKeys: ['jsonrpc', 'method', 'params'] },
)
const nullOr = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 4 })
const asked: fc.Arbitrary<Asked> = fc.record({
  version: nullOr(fc.constantFrom(...versions)),
  method: nullOr(method),
  name: nullOr(fc.constantFrom('add', 'tasks', '=?base64?YWRkZ?=', ...encoded)),
  body: fc.oneof({ weight: 9, arbitrary: message }, fc.array(message, { maxLength: 2 })),
})

test('each refusal of the reference is one here, with the same code', async () => {
  let refused = 0
  await fc.assert(
    fc.asyncProperty(asked, async request => {
      const code = await refusedByReference(request)
      if (code === null) return
      refused++
      // The part for sessions has one code for all.
      if (code === -32000) ok(refusedHere(request) !== null)
      else deepEqual(refusedHere(request), code)
    }),
    { numRuns: thorough(300, 100) },
  )
  ok(refused > 50)
})

for (const name of names)
  test(`a call of ${name} that agrees with itself passes here and there`, async () => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, _meta } }
    const field = `=?base64?${Buffer.from(name).toString('base64')}?=`
    const request = { version: '2026-07-28', method: 'tools/call', name: field, body }
    deepEqual([await refusedByReference(request), refusedHere(request)], [null, null])
  })
