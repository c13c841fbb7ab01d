import assert from 'node:assert/strict'
import { test } from 'node:test'
import { categoryTitle } from '../../src/permissions/categories.ts'
import { oauthScopes } from '../../src/permissions/scopes.ts'

test('every category of scopes and permissions has a title for people', () => {
  for (const { category } of oauthScopes) assert.match(categoryTitle(category), /^[A-Z][A-Za-z ]+$/)
  assert.equal(categoryTitle('not_known'), 'not_known')
})
