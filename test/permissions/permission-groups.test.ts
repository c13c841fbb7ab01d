import assert from 'node:assert/strict'
import { test } from 'node:test'
import { permissions } from '../../src/permissions/permissions.ts'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'

test('there is one group for each permission, without what concerns OAuth only', () => {
  assert.deepEqual(
    permissionGroups.map(({ id, name, category, description, scopes }) => [
      id,
      name,
      category,
      description,
      scopes,
    ]),
    permissions.map(({ id, name, category, description, scopes }) => [
      id,
      name,
      category,
      description,
      scopes,
    ]),
  )
  for (const group of permissionGroups)
    assert.deepEqual(Object.keys(group), ['id', 'name', 'category', 'description', 'scopes'])
})
