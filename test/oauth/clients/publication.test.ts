import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingForPublic } from '../../../src/oauth/clients/publication.ts'
import { oauthScopes } from '../../../src/permissions/scopes.ts'
import type { OAuthClient, VerificationStatus } from '../../../src/store/records/oauth-client.ts'
import { clientWith, verificationWith } from './client-with.ts'

const complete: Partial<OAuthClient> = {
  name: 'A client',
  logoUri: 'https://app.example/logo.svg',
  clientUri: 'https://app.example/',
  verification: verificationWith({ status: 'verified', nextCheckAt: null }),
  scopes: ['openid', 'ai_gateway.run'],
}

const unproven = (status: VerificationStatus) => ({ verification: verificationWith({ status }) })

/** Each precondition, and every way in which it can be missing. */
const lacks: Readonly<Record<string, readonly Partial<OAuthClient>[]>> = {
  client_name: [{ name: '' }, { name: ' ' }],
  logo_uri: [{ logoUri: null }],
  client_uri: [
    { clientUri: null, verification: null },
    { verification: null },
    unproven('pending'),
    unproven('in_progress'),
    unproven('failed'),
  ],
  scopes: [{ scopes: [] }, { scopes: ['openid', 'offline_access', 'user.read'] }, { scopes: ['unknown'] }],
}

const members = Object.keys(lacks)
const missingOf = (client: Partial<OAuthClient>) => missingForPublic(clientWith(client), oauthScopes)

test('a client that has all of it can be public, with or without what is optional', () => {
  assert.deepEqual(missingOf(complete), [])
  assert.deepEqual(missingOf({ ...complete, scopes: ['oauth_clients.read'] }), [])
  assert.deepEqual(missingOf({ ...complete, tokenEndpointAuthMethod: 'none', secrets: [] }), [])
})

for (let set = 1; set < 2 ** members.length; set++) {
  const missing = members.filter((_, i) => set & (1 << i))
  test(`without ${missing.join(', ')} exactly that is missing`, () => {
    for (const lack of combinationsOf(missing))
      assert.deepEqual(
        missingOf({ ...complete, ...lack }).map(({ member }) => member),
        missing,
      )
  })
}

test('the page lists what is missing, and what to do after a failed verification', () => {
  for (const member of members)
    for (const lack of lacks[member]!)
      for (const { sentence } of missingOf({ ...complete, ...lack })) {
        assert.match(sentence, new RegExp(`\\b${member}\\b.*[^.]$`))
        assert.equal(/failed: send client_uri again/.test(sentence), lack.verification?.status === 'failed')
        assert.equal(/^client_uri must be set/.test(sentence), lack.clientUri === null)
      }
})

/** Every way in which all of these are missing together. */
function combinationsOf(missing: readonly string[]): readonly Partial<OAuthClient>[] {
  return missing.reduce<readonly Partial<OAuthClient>[]>(
    (some, member) => some.flatMap(lack => lacks[member]!.map(other => ({ ...lack, ...other }))),
    [{}],
  )
}
