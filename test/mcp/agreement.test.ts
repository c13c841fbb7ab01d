import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { judge, judgeBodiless, type McpRequest } from '../../src/mcp/agreement.ts'
import { isMcpFault, type McpFault } from '../../src/mcp/fault.ts'
import { decodeFieldValue, type McpFields } from '../../src/mcp/fields.ts'
import { anyCharacter } from '../help/any-text.ts'

const stateless = '2026-07-28'
const none: McpFields = { version: null, method: null, name: null }
const modern: McpFields = { version: stateless, method: 'tools/call', name: 'add' }

/** A call of a tool of this revision. */
function body(name: unknown, claim: unknown = stateless, more: object = {}): object {
  return { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, _meta: metaOf(claim) }, ...more }
}

function metaOf(claim: unknown): object {
  return claim === null ? {} : { 'io.modelcontextprotocol/protocolVersion': claim }
}

function judged(fields: McpFields, message: unknown): McpRequest | McpFault {
  return judge(fields, Buffer.from(JSON.stringify(message)))
}

function codeOf(outcome: McpRequest | McpFault): number | null {
  return isMcpFault(outcome) ? outcome.code : null
}

const legacyCall = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'add' } }
const response = { jsonrpc: '2.0', id: 7, result: {} }
const notification = { jsonrpc: '2.0', method: 'notifications/cancelled', params: {} }
/** Methods whose name the fields of requests need not repeat. */
const subscription = body('a', stateless, {
  method: 'resources/subscribe',
  params: { uri: 'file:///a', _meta: metaOf(stateless) },
})
const listing = body('', stateless, { method: 'tools/list', params: { _meta: metaOf(stateless) } })

describe('a request without sessions', () => {
  test('passes where its fields repeat what its body says', () => {
    const request = judged(modern, body('add'))
    deepEqual(isMcpFault(request) ? request : [request.version, request.isStateless], [stateless, true])
  })

  test('passes with a name in its base64 form', () => {
    const name = `=?base64?${Buffer.from('schön').toString('base64')}?=`
    equal(codeOf(judged({ ...modern, name }, body('schön'))), null)
  })

  test('says what differs', () => {
    const fault = judged({ ...modern, name: 'remove' }, body('add')) as McpFault
    deepEqual(
      [fault.status, fault.code, fault.id, fault.data],
      [400, -32020, '7', { mismatch: { field: 'Mcp-Name', header: 'remove', body: 'add' } }],
    )
  })

  test('of an unknown version says which are known', () => {
    const fault = judged({ ...modern, version: '2027-01-01' }, body('add', '2027-01-01')) as McpFault
    deepEqual([fault.code, fault.data], [-32022, { supported: [stateless], requested: '2027-01-01' }])
  })

  test('of an unknown version in its body alone is refused, too', () => {
    const claiming = { ...notification, params: { _meta: metaOf('2027-01-01') } }
    equal(codeOf(judged(none, claiming)), -32022)
  })

  test('sends no long name back', () => {
    const fault = judged({ ...modern, name: 'a'.repeat(5000) }, body('b'.repeat(5000))) as McpFault
    equal(JSON.stringify(fault).length < 600, true)
  })

  for (const [why, fields, message, code] of [
    ['with another method in its body', { ...modern, method: 'tools/list' }, body('add'), -32020],
    ['with another version in its body', modern, body('add', '2025-11-25'), -32020],
    ['without the field of the version', { ...modern, version: null }, body('add'), -32020],
    ['without the field of the method', { ...modern, method: null }, body('add'), -32020],
    ['without the field of the name', { ...modern, name: null }, body('add'), -32020],
    ['without any field', none, body('add'), -32020],
    [
      'with a name in base64 that is not canonical',
      { ...modern, name: '=?base64?YWRkZ?=' },
      body('add'),
      -32020,
    ],
    ['with a name in base64url', { ...modern, name: '=?base64?w7_Dvw==?=' }, body('ÿÿ'), -32020],
    ['with a name in base64 that is not UTF-8', { ...modern, name: '=?base64?/w==?=' }, body('ÿ'), -32020],
    ['with a name in bytes that need base64', { ...modern, name: 'sch\u00f6n' }, body('schön'), -32020],
    ['with a name that its body does not have', modern, body(undefined), -32020],
    [
      'with another name, though its method needs none in a field',
      { ...modern, method: 'resources/subscribe', name: 'file:///b' },
      subscription,
      -32020,
    ],
    [
      'with a name that cannot be read, of a method that has none',
      { ...modern, method: 'tools/list', name: '=?base64?YWRkZ?=' },
      listing,
      -32020,
    ],
    ['without the version in its body', modern, body('add', null), -32602],
    ['with a version in its body that is no text', modern, body('add', 1), -32602],
    [
      'that opens a session',
      { ...modern, method: 'initialize', name: null },
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} },
      -32020,
    ],
    ['in a batch', modern, [legacyCall], -32600],
    ['in a batch of others', none, [legacyCall, body('add')], -32600],
    ['that is a response', { ...none, version: stateless }, response, -32600],
    ['that is a notification of another method', { ...modern, method: 'tools/call' }, notification, -32020],
  ] as const)
    test(`is refused ${why}`, () => {
      equal(codeOf(judged(fields, message)), code)
    })

  test('needs the field of the name only where its method says so, and its body has one', () => {
    equal(codeOf(judged({ ...modern, method: 'resources/subscribe', name: null }, subscription)), null)
    equal(codeOf(judged({ ...modern, name: null }, body(undefined))), null)
    equal(codeOf(judged({ ...modern, method: 'tools/list', name: 'anything' }, listing)), null)
  })

  test('that is a notification needs no fields', () => {
    const claiming = { ...notification, params: { _meta: metaOf(stateless) } }
    const request = judged(none, claiming) as McpRequest
    deepEqual([request.version, request.isStateless], [stateless, true])
    equal(codeOf(judged({ ...none, version: stateless }, notification)), null)
    equal(codeOf(judged({ ...none, version: stateless, method: notification.method }, notification)), null)
  })

  test('has a body', () => {
    equal((judgeBodiless({ ...none, version: stateless }) as McpFault).status, 405)
    equal(codeOf(judgeBodiless({ ...none, version: '2099-01-01' })), -32022)
  })
})

describe('a request of a session', () => {
  for (const version of [null, '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])
    test(`of version ${version} needs no fields but that of the version`, () => {
      const fields = { ...none, version }
      for (const message of [legacyCall, response, notification, [legacyCall, response, notification]])
        equal(codeOf(judged(fields, message)), null)
      equal(codeOf(judgeBodiless(fields)), null)
      const request = judged(fields, legacyCall) as McpRequest
      deepEqual([request.version, request.isStateless], [version ?? '', false])
    })

  test('that has no body is of a known version', () => {
    equal(codeOf(judgeBodiless({ ...none, version: '2024-10-07' })), -32022)
  })

  test('has all messages of a batch', () => {
    const other = { ...legacyCall, params: { name: 'remove' } }
    const { messages } = judged(none, [legacyCall, other]) as McpRequest
    deepEqual(
      messages.map(({ name }) => name),
      ['add', 'remove'],
    )
  })

  for (const [why, fields, message, code] of [
    ['of an unknown version', { ...none, version: '2024-10-07' }, legacyCall, -32022],
    ['of an unknown version, in a batch', { ...none, version: '2024-10-07' }, [legacyCall], -32022],
    ['of an empty version', { ...none, version: '' }, legacyCall, -32022],
    ['of a version with a space', { ...none, version: '2025-06-18 ' }, legacyCall, -32022],
    [
      'with a method in a field that its body does not have',
      { ...none, method: 'tools/list' },
      legacyCall,
      -32020,
    ],
    ['with a name in a field that its body does not have', { ...none, name: 'remove' }, legacyCall, -32020],
    ['with the method of a batch in a field', { ...none, method: 'tools/call' }, [legacyCall], -32020],
    ['with the name of a batch in a field', { ...none, name: 'add' }, [legacyCall], -32020],
    ['with the method of a response in a field', { ...none, method: 'tools/call' }, response, -32020],
  ] as const)
    test(`is refused ${why}`, () => {
      equal(codeOf(judged(fields, message)), code)
    })
})

describe('the base64 form', () => {
  test('stands for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), text => {
        equal(decodeFieldValue(`=?base64?${Buffer.from(text).toString('base64')}?=`), text)
      }),
    )
  })

  test('is canonical, and any other value of ASCII is itself', () => {
    const value = fc.oneof(
      fc.string(),
      fc.base64String().map(text => `=?base64?${text}?=`),
      fc.string().map(text => `=?base64?${text}?=`),
      fc.constantFrom('=?base64?=', '=?base64?YQ==', 'YQ==?='),
    )
    fc.assert(
      fc.property(value, text => {
        const decoded = decodeFieldValue(text)
        const isForm = text.startsWith('=?base64?') && text.endsWith('?=')
        if (!isForm) equal(decoded, text)
        else if (decoded !== null) equal(`=?base64?${Buffer.from(decoded).toString('base64')}?=`, text)
      }),
    )
  })
})
