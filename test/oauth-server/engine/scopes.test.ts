import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultOfScopes, scopesOf, usualScopesOf, visible } from '../../../src/oauth-server/engine/scopes.ts'
import { oauthScopes } from '../../../src/permissions/scopes.ts'
import { clientWith } from '../../oauth/clients/client-with.ts'

test('a request has distinct scopes, or the usual ones', () => {
  const usual = ['openid']
  for (const text of [undefined, '', '  ']) assert.equal(scopesOf(text, usual), usual)
  assert.deepEqual(scopesOf(' a  b a ', usual), ['a', 'b'])
})

test('the usual scopes are those that are registered, or that a document names', () => {
  const document = { url: 'https://app.example/c', keys: [], fetchedAt: 0, expiresAt: 1 }
  const scopes = ['openid', 'zones.read']
  for (const [client, usual] of [
    [clientWith({ scopes }), scopes],
    [clientWith({ scopes, document: { ...document, scope: ['openid'] } }), scopes],
    [clientWith({ scopes, document: { ...document, scope: null } }), []],
  ] as const)
    assert.deepEqual(usualScopesOf(client), usual)
})

test('scopes must exist and be registered, or be included in one that is', () => {
  const registered = ['user.read', 'zones.read']
  for (const [scopes, fault] of [
    [['zones.read'], null],
    [['user.read', 'email', 'profile'], null],
    [[], 'scope is missing, and the document of the client names none either'],
    [['nonsense'], 'scope unknown: nonsense'],
    [['openid'], 'scope not registered for this client: openid'],
    [['zones.read', 'openid', 'x"y', 'é'], 'scope unknown: x?y ?; not registered for this client: openid'],
    [[`x${'y'.repeat(60)}`], `scope unknown: x${'y'.repeat(59)}`],
    [Array.from({ length: 10 }, (_, i) => `x${i}`), `scope unknown: x0 x1 x2 x3 x4 x5 x6 x7 x8 x9`],
    [
      Array.from({ length: 11 }, (_, i) => `x${i}`),
      `scope unknown: x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 and 1 more`,
    ],
  ] as const)
    assert.equal(faultOfScopes(scopes, registered, oauthScopes), fault)
  assert.equal(visible('a"\\\u0000b~'), 'a???b~')
})
