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

test('the metadata of an API name it, who issues its tokens, and how they are sent', () => {
  for (const [path, api, resource, isForRuns] of [
    ['/', 'management', 'https://a.example', false],
    ['/v1', 'ai', 'https://a.example/v1', true],
  ] as const) {
    const metadata = metadataOf(new URL(`https://a.example${path}`), api, 'https://id.example')
    const { scopes_supported: scopes, resource_name: _, ...others } = JSON.parse(metadata)
    assert.deepEqual(others, {
      ...{ resource, authorization_servers: ['https://id.example'], bearer_methods_supported: ['header'] },
    })
    assert.equal(scopes.includes('ai_gateway.run'), isForRuns)
  }
})

test('there is no resource at what is no origin', () => {
  for (const origin of ['', 'a.example', 'https://a b']) assert.equal(resourceAt(origin, '/x'), null)
})
