import assert from 'node:assert/strict'
import { test } from 'node:test'
import { permissions } from '../../src/permissions/permissions.ts'
import { presets, presetsWith } from '../../src/permissions/presets.ts'
import { oauthScopes } from '../../src/permissions/scopes.ts'

const held = (id: string, rows: Parameters<typeof presetsWith>[0][]) =>
  rows.filter(row => presetsWith(row).includes(id)).map(({ name }) => name)

test('each preset holds what it is named after, of permissions and of scopes', () => {
  for (const rows of [[...permissions], [...oauthScopes]]) {
    assert.deepEqual(held('models', rows), ['AI Gateway Run'])
    assert.deepEqual(
      held('all', rows),
      rows.map(({ name }) => name),
    )
    const read = held('read', rows)
    assert.ok(read.includes('Zones Read') && read.includes('Audit Logs Read'))
    assert.deepEqual(
      rows.filter(({ name }) => / Read$/.test(name)).map(({ name }) => name),
      read,
    )
  }
})

test('a permission that is added later is in the presets that it fits', () => {
  const category = 'developer_platform'
  assert.deepEqual(presetsWith({ name: 'Widgets Read', category }), ['read', 'all'])
  assert.deepEqual(presetsWith({ name: 'Widgets Write', category }), ['all'])
  assert.deepEqual(presetsWith({ name: 'Batches Run', category: 'ai_and_machine_learning' }), [
    'models',
    'all',
  ])
  assert.deepEqual(presetsWith({ name: 'Widgets Run', category }), ['all'])
})

test('no two presets have the same id or title', () => {
  for (const member of ['id', 'title'] as const)
    assert.equal(new Set(presets.map(one => one[member])).size, presets.length)
})
