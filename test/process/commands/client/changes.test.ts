import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clearableMembers } from '../../../../src/admin/oauth-clients/body.ts'
import { bodyIn, clearable, settingsOf } from '../../../../src/process/commands/client/changes.ts'

test('a member without an option is not set', () => {
  assert.deepEqual(settingsOf({ args: [], name: 'Photos', json: true }), { client_name: 'Photos' })
  assert.deepEqual(settingsOf({ args: [] }), {})
})

test('refresh tokens are given, given no more, or left as they are', () => {
  const both = ['authorization_code', 'refresh_token']
  assert.deepEqual(settingsOf({ args: [], refresh: true }), { grant_types: both })
  assert.deepEqual(settingsOf({ args: [], 'no-refresh': true }), { grant_types: ['authorization_code'] })
})

test('a file cannot be combined with options that set something', () => {
  assert.deepEqual(bodyIn('package.json', { client_name: 'Photos' }), {
    flaw: '--file has the whole body and cannot be combined with other settings',
  })
})

test('--clear takes all that the API lets be cleared', () => {
  assert.deepEqual(clearable, clearableMembers)
})
