import assert from 'node:assert/strict'
import { test } from 'node:test'
import { challengeOf, metadataOf, resourceAt } from '../../../src/oauth/grants/protected-resource.ts'
import { oauthScopes } from '../../../src/permissions/scopes.ts'

const named = 'resource_metadata="https://a.example/.well-known/oauth-protected-resource'

for (const [path, scope, error, challenge] of [
  [null, null, null, 'Bearer'],
  [null, 'a.read', null, 'Bearer scope="a.read"'],
  [null, null, 'invalid_token', 'Bearer error="invalid_token"'],
  ['', null, null, `Bearer ${named}"`],
  ['/', null, null, `Bearer ${named}"`],
  [
    '/v1/x',
    'a.read',
    'insufficient_scope',
    `Bearer ${named}/v1/x", scope="a.read", error="insufficient_scope"`,
  ],
  ['/"\r\n', null, null, `Bearer ${named}/%22"`],
] as const)
  test(`the challenge for ${JSON.stringify(path)}, ${scope} and ${error}`, () => {
    const resource = path === null ? null : resourceAt('https://a.example', path)
    assert.equal(challengeOf({ resource, scope, error }), challenge)
  })

test('the metadata of both APIs name scopes that exist, and together all of them', () => {
  const scopesOf = (api: 'management' | 'ai') =>
    JSON.parse(metadataOf(new URL('https://a.example'), api, 'https://id.example')).scopes_supported
  const named = new Set([...scopesOf('management'), ...scopesOf('ai')])
  assert.deepEqual([...named].sort(), oauthScopes.map(({ id }) => id).sort())
})

test('there is no resource at what is no origin', () => {
  for (const origin of ['', 'a.example', 'https://a b']) assert.equal(resourceAt(origin, '/x'), null)
})
