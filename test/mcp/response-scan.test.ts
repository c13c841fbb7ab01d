// What the bytes of a response say of a call.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../help/any-text.ts'
import { ResponseScan } from '../../src/mcp/response-scan.ts'

function scan(text: string, size = text.length || 1): readonly [hasResult: boolean, hasError: boolean] {
  const one = new ResponseScan()
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += size) one.note(bytes.subarray(from, from + size))
  return [one.hasResult, one.hasError]
}

const content = [{ type: 'text', text: '"isError":true,"error":{"code":1}' }]

test('a result and an error are told apart, however the bytes are cut and written', () => {
  const answers = [
    { of: { jsonrpc: '2.0', id: 1, result: { content } }, has: [true, false] },
    { of: { jsonrpc: '2.0', id: 1, result: { content, isError: false } }, has: [true, false] },
    { of: { result: { content, isError: true }, jsonrpc: '2.0', id: 1 }, has: [true, true] },
    { of: { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'no' } }, has: [false, true] },
    { of: { jsonrpc: '2.0', id: 1, error: { message: 'no', code: -32602 } }, has: [false, true] },
    {
      of: { jsonrpc: '2.0', method: 'notifications/progress', params: { error: 'no' } },
      has: [false, false],
    },
  ]
  for (const { of, has } of answers)
    for (const text of [JSON.stringify(of), `data: ${JSON.stringify(of)}\n\n`, JSON.stringify(of, null, 2)])
      for (const size of [1, 7, 40, 1000]) assert.deepEqual(scan(text, size), has, text)
})

test('no text of a client can look like a result or an error', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.integer({ min: 1, max: 90 }), (text, size) => {
      const hostile = [text, `"result":${text}`, `\\"isError":true`, `"error":{"code":${text}`]
      assert.deepEqual(scan(JSON.stringify(hostile), size), [false, false])
    }),
    { numRuns: 200 },
  )
})

test('an error is found however far apart its parts may be, and is not forgotten', () => {
  const blanks = ' '.repeat(8)
  const parts = `"error"${blanks}:${blanks}{${blanks}"message"`
  const one = new ResponseScan()
  for (const piece of [' '.repeat(99), parts.slice(0, -1), parts.slice(-1)]) one.note(Buffer.from(piece))
  assert.equal(one.hasError, true)
  for (const piece of [' '.repeat(99), ' ']) one.note(Buffer.from(piece))
  assert.equal(one.hasError, true)
})
