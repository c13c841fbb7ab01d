import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditOf } from '../../../src/store/records/audit-entry.ts'

const call = {
  account: '0'.repeat(32),
  caller: { id: '1'.repeat(32) },
  now: Date.UTC(2026, 0, 1),
  address: '192.0.2.1',
  ray: '0123456789abcdef',
}

test('an entry tells who, what, when and from where', () => {
  const { id, ...entry } = auditOf(call, 'update', { resourceKind: 'gateway', resource: 'g' }, ['a'])
  assert.match(id, /^[0-9a-f]{32}$/)
  assert.deepEqual(entry, {
    account: call.account,
    at: call.now,
    actor: call.caller.id,
    address: '192.0.2.1',
    ray: '0123456789abcdef',
    action: 'update',
    resourceKind: 'gateway',
    resource: 'g',
    changed: ['a'],
  })
})

test('an entry names the app and its user, where an app asks', () => {
  const app = { user: 'u', email: 'ann@example.com', client: 'c', clientName: 'An app' }
  const actor = { ...app, grant: 'g', end: null, members: [], scopes: [], apis: [] }
  const entry = auditOf({ ...call, caller: { id: 'g', actor } }, 'create', {
    resourceKind: 'token',
    resource: 't',
  })
  assert.deepEqual([entry.actor, entry.app], ['g', app])
})

test('the ids of entries sort as they were made, also within one ms', () => {
  const ids = Array.from({ length: 1_000 }, (_, i) => {
    const at = { ...call, now: call.now + Math.floor(i / 500) }
    return auditOf(at, 'create', { resourceKind: 'token', resource: 'r' }).id
  })
  assert.deepEqual(ids.toSorted(), ids)
  assert.equal(new Set(ids).size, ids.length)
})
