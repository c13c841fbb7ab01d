// Messages of MCP: what is accepted says what JSON.parse says of it.

import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { isObject } from '../../../src/base/text/json.ts'
import { isMcpFault } from '../../../src/mcp/fault.ts'
import { type McpMessage, readMessages } from '../../../src/mcp/message.ts'
import { mutateJson } from '../engine/mutate-json.ts'
import type { Target } from '../target.ts'

function attempt(input: Buffer): void {
  const read = readMessages(input)
  if (isMcpFault(read)) return
  assert.ok(isUtf8(input))
  const value = parse(input.toString())
  // Texts and numbers are read loosely: they cannot move the end of a value.
  if (value === undefined) return
  assert.equal(Array.isArray(value), read.isBatch)
  const values = Array.isArray(value) ? value : [value]
  assert.equal(read.messages.length, values.length)
  for (const [i, message] of read.messages.entries()) assertSame(message, values[i])
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function assertSame({ kind, id, method, targets, claim }: McpMessage, value: unknown): void {
  assert.ok(isObject(value))
  assert.equal(value.jsonrpc, '2.0')
  if (id !== null) assert.equal(JSON.parse(id), value.id)
  assert.equal(kind === 'response', value.method === undefined)
  if (kind === 'response') return assert.ok('result' in value !== 'error' in value)
  assert.equal(method, value.method)
  assert.equal(kind === 'request', 'id' in value)
  const params = isObject(value.params) ? value.params : {}
  const ref = isObject(params.ref) ? params.ref : {}
  const { notifications } = params
  const subscriptions = isObject(notifications) ? notifications.resourceSubscriptions : undefined
  const names = [params.name, params.uri, params.taskId, ref.name, ref.uri, subscriptions].flat()
  for (const { name } of targets) assert.ok(names.includes(name), name)
  if (claim !== null) {
    assert.ok(isObject(params._meta))
    assert.equal(claim, params._meta['io.modelcontextprotocol/protocolVersion'])
  }
}

const request = { jsonrpc: '2.0', id: 1 }
const meta = { progressToken: 1, 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }

export const target: Target = {
  seeds: [
    { ...request, method: 'tools/call', params: { name: 't', arguments: { name: 'x' }, _meta: meta } },
    { ...request, id: 'a', method: 'resources/read', params: { uri: 'file:///a' } },
    { ...request, method: 'completion/complete', params: { ref: { type: 'ref/prompt', name: 'p' } } },
    {
      ...request,
      method: 'subscriptions/listen',
      params: { notifications: { resourceSubscriptions: ['a', 'b'] } },
    },
    [
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      { ...request, result: {} },
    ],
    { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'm' } },
  ].map(value => JSON.stringify(value)),
  tokens: [
    ...[
      '"jsonrpc":"2.0",',
      '"id":1,',
      '"id":null,',
      '"method":"',
      '"params":{',
      '"_meta":{',
      '"name":"a",',
      '"NAME":"a",',
      '"uri":"a",',
    ],
    ...[
      '"tools/call"',
      '"prompts/get"',
      '"resources/read"',
      '"tasks/get"',
      '"taskId":"a"',
      '"ref/resource"',
      '"completion/complete"',
    ],
    ...[
      '"subscriptions/listen"',
      '"resourceSubscriptions":',
      '\\u006e',
      '\\ud800',
      '"__proto__":',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      'null',
      '1e5',
      '-0',
      '\xef\xbb\xbf',
    ],
  ],
  maxLength: 1024,
  covers: ['src/mcp/', 'src/base/json/'],
  combine: mutateJson,
  attempt,
}
