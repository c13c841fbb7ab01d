import { deepEqual, equal, match } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isJson, isObject } from '../../src/base/text/json.ts'
import { isMcpFault, type McpFault } from '../../src/mcp/fault.ts'
import { type McpBody, type McpMessage, readMessages, repeatsName } from '../../src/mcp/message.ts'
import { anyCharacter } from '../help/any-text.ts'
import { thorough } from '../help/thorough.ts'

/** The only message of a body. */
function only(body: string): McpMessage {
  const read = readMessages(Buffer.from(body))
  if (isMcpFault(read)) throw new Error(read.message)
  equal(read.isBatch, false)
  return read.messages[0]!
}

/** The code of the fault of a body, and the id in it; null for a body without one. */
function faultOf(body: string | Buffer): [code: number, id: string | null] | null {
  const read = readMessages(Buffer.from(body))
  return isMcpFault(read) ? [read.code, read.id] : null
}

const call = (more: string, id = '1'): string => `{"jsonrpc":"2.0","id":${id},"method":"tools/call",${more}}`

const subscribed = (count: number): string => {
  const params = { notifications: { resourceSubscriptions: Array(count).fill('u') } }
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params })
}

const complete = (ref: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{${ref}}}}`

describe('a message', () => {
  test('without a name asks for nothing by name', () => {
    for (const more of ['"params":{}', '"x":1'])
      deepEqual([only(call(more)).name, only(call(more)).targets], [null, []])
  })

  test('is a request with its id, method, name and version', () => {
    const body = call(
      '"params":{"name":"add","arguments":{"name":"x"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}',
    )
    deepEqual(only(body), {
      kind: 'request',
      id: '1',
      method: 'tools/call',
      name: 'add',
      targets: [{ kind: 'tool', name: 'add' }],
      claim: '2026-07-28',
    })
  })

  test('is a notification or a response', () => {
    equal(only('{"jsonrpc":"2.0","method":"notifications/initialized"}').kind, 'notification')
    equal(only('{"jsonrpc":"2.0","id":"a","result":{}}').kind, 'response')
    equal(only('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}').kind, 'response')
  })

  test('has its id as it came', () => {
    for (const id of ['0', '-1', '9007199254740993', '"a\\u0062"', '"é"', '1.5e3'])
      equal(only(call('"params":{"name":"a"}', id)).id, id)
  })

  test('has a name as its escapes have it', () => {
    equal(only(call('"params":{"n\\u0061me":"d\\u0065lete"}')).name, 'delete')
  })

  for (const [method, params, target] of [
    ['prompts/get', { name: 'p' }, { kind: 'prompt', name: 'p' }],
    ['resources/read', { uri: 'a://b' }, { kind: 'resource', name: 'a://b' }],
    ['resources/subscribe', { uri: 'a://b' }, { kind: 'resource', name: 'a://b' }],
    ['resources/unsubscribe', { uri: 'a://b' }, { kind: 'resource', name: 'a://b' }],
    ['tasks/get', { taskId: 't' }, { kind: 'task', name: 't' }],
    ['tasks/update', { taskId: 't' }, { kind: 'task', name: 't' }],
    ['tasks/cancel', { taskId: 't' }, { kind: 'task', name: 't' }],
    ['tasks/result', { taskId: 't' }, { kind: 'task', name: 't' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' } }, { kind: 'prompt', name: 'p' }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'u' } }, { kind: 'resource', name: 'u' }],
    [
      'subscriptions/listen',
      { notifications: { resourceSubscriptions: ['u'], toolsListChanged: true } },
      { kind: 'resource', name: 'u' },
    ],
  ] as const)
    test(`of ${method} asks for the ${target.kind}`, () => {
      deepEqual(only(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })).targets, [target])
    })

  test('of many subscriptions asks for all of them', () => {
    const params = { notifications: { resourceSubscriptions: ['u', 'v'] } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params })
    deepEqual(
      only(body).targets.map(({ name }) => name),
      ['u', 'v'],
    )
  })

  test('asks for nothing that only looks like a subscription', () => {
    const params = { notifications: { resourceSubscriptions: ['u'], others: ['v'] }, more: ['w'] }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params })
    deepEqual(only(body).targets, [{ kind: 'resource', name: 'u' }])
  })

  test('has a name of 8 KiB, an id of 256 bytes and 256 lists in each other at most', () => {
    const named = (length: number) =>
      faultOf(call(`"x":"${'x'.repeat(99)}","params":{"name":"${'a'.repeat(length - 2)}"}`))
    deepEqual([named(8192), named(8193)], [null, [-32602, '1']])
    const known = (length: number) => faultOf(call('"params":{}', `"${'a'.repeat(length - 2)}"`))
    deepEqual([known(256), known(257)], [null, [-32600, null]])
    const nested = (depth: number) => faultOf(call(`"x":${'['.repeat(depth)}${']'.repeat(depth)}`))
    deepEqual([nested(256), nested(257)], [null, [-32700, null]])
  })

  test('that is refused for two reasons names the first', () => {
    const [other, twice] = [/in upper and lower case/, /is duplicate/]
    for (const [body, message] of [
      ['[1]', /must be an object/],
      ['{"jsonrpc":"2.0","id":1,"METHOD":"ping"}', other],
      [call('"METHOD":"ping"'), other],
      [call('"method":"ping","Method":"ping"'), twice],
    ] as const)
      match((readMessages(Buffer.from(body)) as McpFault).message, message)
  })

  test('of a completion has no name that a field repeats, and may be about nothing', () => {
    equal(only(complete('"type":"ref/prompt","name":"p"')).name, null)
    deepEqual(only('{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{}}').targets, [])
  })

  test('asks for a hundred things at most, as a batch has a hundred messages', () => {
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    const pings = (count: number) => `[${Array(count).fill(ping).join()}]`
    equal(faultOf(pings(100)), null)
    deepEqual(faultOf(pings(101)), [-32600, null])
    equal(faultOf(`[${subscribed(60)},${subscribed(40)}]`), null)
    equal(faultOf(subscribed(100)), null)
    deepEqual(faultOf(subscribed(101)), [-32602, '1'])
  })

  test('repeats its name in a field where its method says so', () => {
    const repeating = [
      'tools/call',
      'prompts/get',
      'resources/read',
      'tasks/get',
      'tasks/update',
      'tasks/cancel',
    ]
    for (const method of repeating) equal(repeatsName(method), true, method)
    for (const method of ['resources/subscribe', 'resources/unsubscribe', 'tasks/result', 'tools/list', ''])
      equal(repeatsName(method), false, method)
  })

  test('of a batch is read like any other', () => {
    const read = readMessages(
      Buffer.from(`[${call('"params":{"name":"a"}')}, ${call('"params":{"name":"b"}')}]`),
    )
    deepEqual(
      (read as McpBody).messages.map(({ name }) => name),
      ['a', 'b'],
    )
  })
})

describe('a body is refused', () => {
  const named = '"params":{"name":"a"}'
  for (const [why, body, code, id = null] of [
    ['that is empty', '', -32700],
    ['with a byte order mark', `\ufeff${call(named)}`, -32700],
    ['with more behind it', `${call(named)} {}`, -32700],
    ['that is cut', call(named).slice(0, -1), -32700],
    ['that nests too deep', call(`"params":{"name":"a","x":${'['.repeat(300)}${']'.repeat(300)}}`), -32700],
    ['that is no message', '"tools/call"', -32600],
    ['that is an empty batch', '[]', -32600],
    ['with a message that is no object', `[${call(named)},1]`, -32600],
    ['that is too long a batch', `[${Array.from({ length: 101 }, () => call(named)).join()}]`, -32600],
    ['that asks for too many things', `[${subscribed(60)},${subscribed(41)}]`, -32600],
    ['with two methods', call(`"method":"tools/list",${named}`), -32600, '1'],
    ['with a method in another case', call(`"Method":"tools/list",${named}`), -32600, '1'],
    ['with a method in letters that look alike', call(`"param\u017f":{},${named}`), -32600, '1'],
    ['with a method spelled with escapes', call(`"m\\u0065thod":"tools/list",${named}`), -32600, '1'],
    ['with two names', call('"params":{"name":"a","name":"b"}'), -32600, '1'],
    ['with two parameters', call(`${named},${named}`), -32600, '1'],
    ['with two ids', call(`"id":2,${named}`), -32600, '2'],
    ['with two versions of JSON-RPC', call(`"jsonrpc":"1.0",${named}`), -32600, '1'],
    ['with two versions', call('"params":{"name":"a","_meta":{},"_meta":{}}'), -32600, '1'],
    ['without a version of JSON-RPC', '{"id":1,"method":"ping"}', -32600, '1'],
    ['with an id that is null', call(named, 'null'), -32600],
    ['with an id that is an object', call(named, '{}'), -32600],
    ['with an id that is too long', call(named, `"${'a'.repeat(300)}"`), -32600],
    ['with a lone surrogate in its id', call(named, '"\\ud800"'), -32600],
    ['with a method that is no text', '{"jsonrpc":"2.0","id":1,"method":7}', -32600, '1'],
    ['with an empty method', '{"jsonrpc":"2.0","id":1,"method":""}', -32600, '1'],
    ['with a message of a batch, by no id', '[{"jsonrpc":"2.0","id":1,"method":""}]', -32600],
    ['with a result without an id', '{"jsonrpc":"2.0","result":{}}', -32600],
    ['with a method and an error', call(`${named},"error":{}`), -32600, '1'],
    ['with a method and a result', call(`${named},"result":{}`), -32600, '1'],
    ['with a result and an error', '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', -32600, '1'],
    ['with neither', '{"jsonrpc":"2.0","id":1}', -32600, '1'],
    ['with parameters in a list', call('"params":["a"]'), -32600, '1'],
    [
      'with a completion of what is neither prompt nor resource',
      complete('"type":"ref/tool","name":"a"'),
      -32602,
      '1',
    ],
    ['with a completion of a list', complete('"type":"ref/prompt","name":["a"]'), -32602, '1'],
    [
      'with a completion of a list of references',
      call('"params":{"ref":[{"type":"ref/prompt","name":"a"}]}').replace(
        'tools/call',
        'completion/complete',
      ),
      ...([-32602, '1'] as const),
    ],
    ['with a list for the name', call('"params":{"name":["a"]}'), -32602, '1'],
    ['with a number for the name', call('"params":{"name":1}'), -32602, '1'],
    ['with NUL in the name', call('"params":{"name":"a\\u0000"}'), -32602, '1'],
    ['with a line break in the name', call('"params":{"name":"a\\n"}'), -32602, '1'],
    ['with a lone surrogate in the name', call('"params":{"name":"\\udc00"}'), -32602, '1'],
    ['with an escape that is none in the name', call('"params":{"name":"\\x61"}'), -32602, '1'],
    ['with a list of metadata', call('"params":{"name":"a","_meta":[]}'), -32602, '1'],
    [
      'with a version that is a number',
      call('"params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":1}}'),
      ...([-32602, '1'] as const),
    ],
    [
      'with notifications in a list',
      '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":["u"]}}',
      ...([-32602, '1'] as const),
    ],
    [
      'with a subscription in no list',
      '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":"u"}}}',
      ...([-32602, '1'] as const),
    ],
    [
      'with a subscription in a list of its own',
      '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":[["u"]]}}}',
      ...([-32602, '1'] as const),
    ],
  ] as const)
    test(why, () => {
      deepEqual(faultOf(body), [code, id])
    })

  test('that is not UTF-8', () => {
    const body = Buffer.from(call('"params":{"name":"a\u00e9"}'), 'latin1')
    deepEqual(faultOf(body), [-32700, null])
  })
})

describe('any body', () => {
  const text = fc.oneof(
    fc.constantFrom(
      'tools/call',
      'resources/read',
      'tools/list',
      '2.0',
      'ref/prompt',
      '2026-07-28',
      'a\u0000',
    ),
    fc.string({ unit: anyCharacter, maxLength: 6 }),
  )
  const names = [
    ...[
      'jsonrpc',
      'id',
      'method',
      'params',
      'result',
      'error',
      'name',
      'uri',
      'taskId',
      '_meta',
      'ref',
      'type',
    ],
    ...[
      'Method',
      'NAME',
      'notifications',
      'resourceSubscriptions',
      'io.modelcontextprotocol/protocolVersion',
    ],
  ]
  const { value } = fc.letrec<{ value: unknown }>(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.constantFrom(1, 0, -1.5, null, true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 5 }),
    ),
  }))
  const params = fc.record(
    { name: text, uri: text, _meta: value, arguments: value, ref: value, Name: text },
    { requiredKeys: [] },
  )
  const message = fc.record(
    {
      jsonrpc: fc.constantFrom<unknown>('2.0', '2.0', '2.0', '1.0', 2),
      id: fc.oneof(fc.constantFrom<unknown>(1, 'a', null), value),
      method: text,
      params: fc.oneof(params, value),
      result: value,
      error: value,
      METHOD: text,
    },
    { requiredKeys: ['jsonrpc'] },
  )

  test('is read as JSON.parse reads it, or refused', () => {
    fc.assert(
      fc.property(fc.oneof(message, fc.array(message, { maxLength: 3 }), value), body => {
        const read = readMessages(Buffer.from(JSON.stringify(body)))
        if (isMcpFault(read)) return read.code !== -32700
        const parsed: unknown = JSON.parse(JSON.stringify(body))
        equal(read.isBatch, Array.isArray(parsed))
        const all: unknown[] = Array.isArray(parsed) ? parsed : [parsed]
        deepEqual(read.messages.map(summaryOf), all.map(expected))
        return true
      }),
      { numRuns: thorough(1500, 400) },
    )
  })

  test('that JSON.parse does not read the same way in each copy of a member is refused', () => {
    const members = fc.array(fc.tuple(fc.constantFrom('method', 'm\\u0065thod', 'METHOD', 'params'), text), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(members, list => {
        const named = list.map(([name, value]) => `"${name}":${JSON.stringify(value)}`)
        const read = readMessages(Buffer.from(`{"jsonrpc":"2.0",${named.join()}}`))
        const folded = list.map(([name]) => JSON.parse(`"${name}"`).toLowerCase())
        if (new Set(folded).size < list.length) equal(isMcpFault(read), true)
      }),
    )
  })

  test('throws nothing, and is read only where JSON.parse would find the same structure', () => {
    const json = fc.json({ maxDepth: 4 })
    const cut = fc
      .tuple(message, fc.nat(80), fc.constantFrom('', '"', '}', ']', ',', '\\', '\ufeff'))
      .map(([one, at, more]) => {
        const text = JSON.stringify(one)
        return text.slice(0, at) + more + text.slice(at + more.length)
      })
    fc.assert(
      fc.property(fc.oneof(json, cut, fc.string()), text => {
        const read = readMessages(Buffer.from(text))
        if (isMcpFault(read)) return
        // What is inside of texts and numbers is not looked at, and changes nothing around it.
        equal(skeleton(text), true)
      }),
      { numRuns: thorough(500, 200) },
    )
  })
})

/** Whether a text is JSON once each string in it is empty, and each number and word is 0. */
function skeleton(text: string): boolean {
  return isJson(text.replace(/"(?:[^"\\]|\\.)*"|[-+.\w]+/gs, piece => (piece.startsWith('"') ? '""' : '0')))
}

function summaryOf({ kind, id, method, name, claim }: McpMessage): unknown {
  return { kind, id: id === null ? null : JSON.parse(id), method, name, claim }
}

/** What the reader must have read, by the plain objects of JSON.parse. */
function expected(message: unknown): unknown {
  if (!isObject(message)) return 'a fault'
  const { id, method, params } = message
  if (method === undefined)
    return {
      kind: 'response',
      id: typeof id === 'string' || typeof id === 'number' ? id : null,
      method: '',
      name: null,
      claim: null,
    }
  const from = isObject(params) ? params : {}
  const named = method === 'tools/call' ? from.name : method === 'resources/read' ? from.uri : null
  const name = named ?? null
  const meta = isObject(from._meta) ? from._meta : {}
  return {
    kind: id === undefined ? 'notification' : 'request',
    id: id ?? null,
    method,
    name,
    claim: meta['io.modelcontextprotocol/protocolVersion'] ?? null,
  }
}
