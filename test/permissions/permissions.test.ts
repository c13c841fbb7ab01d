import assert from 'node:assert/strict'
import { test } from 'node:test'
import { permissions } from '../../src/permissions/permissions.ts'

test('ids are 32 hex digits, scopes are words separated by a dot, and all are unique', () => {
  for (const { id, scope } of permissions) {
    assert.match(id, /^[0-9a-f]{32}$/)
    assert.match(scope, /^[a-z_]+\.[a-z]+$/)
  }
  const marks = permissions.flatMap(({ id, scope, name }) => [id, scope, name])
  assert.equal(new Set(marks).size, marks.length)
})

test('a scope has the name of its permission', () => {
  for (const { scope, name } of permissions)
    assert.equal(
      scope,
      name
        .toLowerCase()
        .replace(/ (?=\w+$)/, '.')
        .replaceAll(' ', '_'),
    )
})

test('ids and scopes are what they always were, since tokens and clients are kept with them', () => {
  assert.deepEqual(
    permissions.map(({ id, scope }) => `${id} ${scope}`),
    [
      '382b66cb517a04339216acc80f18ef99 oauth_clients.read',
      '6b58699393c843ca33baafed5ee9285c oauth_clients.write',
      '39bbc5a588267d7551db6ac112ca2290 ai_gateway.read',
      '48fe95b75bbe98bad1124d76227dfe56 ai_gateway.edit',
      'a27621d5ea9af545e8a8cb080c699127 ai_gateway.run',
      '0abaf97bd1d5a4f891a1995d77fb3079 api_tokens.read',
      '3b3c41903e32753205302be26dc5a3e6 api_tokens.write',
      '1e87cd4356e4d882a31fd26e1713d6d2 custom_errors.read',
      'c1b7bff02cc63aa878672e7d55eb9e96 custom_errors.write',
      '5421a228d5746a9e9e8074809d73a3cb access_rules.read',
      'a625243af08458175572c18f1c8b970b access_rules.write',
      '26b346ec70f520ed97a70f5e55e97cdf origins.read',
      '0ad1c68d6f0e4a86b5f9c3ab4f6f2f1e metrics.read',
      '7eac6eca39003088621deac4e788a602 members.read',
      '8fc432326a5504d86e5840c9be7d7e29 members.write',
      '1add6f28f2b5d6e5cd3c0869b847cb25 zones.read',
      '9337f451013dfb343164ba4ad7a43062 analytics.read',
      '9eae2320b1c13682c802b22394d9d563 audit_logs.read',
      'd12f5b8ed3be6cbc3ae6996740e7a14e account_settings.write',
    ],
  )
})
