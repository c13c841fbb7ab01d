import { deepEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { mismatch, unsupportedVersion } from '../../src/mcp/fault.ts'

test('a mismatch says whether the field is missing, and shows 128 characters of each side', () => {
  const [most, more] = ['a'.repeat(128), 'b'.repeat(129)]
  const differs = mismatch('Mcp-Name', { header: most, body: more }, '7')
  match(differs.message, /Mcp-Name and the body differ/)
  deepEqual(differs.data, { mismatch: { field: 'Mcp-Name', header: most, body: `${'b'.repeat(128)}…` } })
  const missing = mismatch('Mcp-Name', { header: null, body: 'add' }, '7')
  match(missing.message, /Mcp-Name is missing/)
  deepEqual(missing.data, { mismatch: { field: 'Mcp-Name', header: null, body: 'add' } })
})

test('a client that asks for an unknown version of sessions learns of all versions', () => {
  const supported = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
  deepEqual(unsupportedVersion('2023-01-01', null).data, { supported, requested: '2023-01-01' })
})
