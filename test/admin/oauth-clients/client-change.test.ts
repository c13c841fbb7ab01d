import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { type ChangedClient, changeClient } from '../../../src/admin/oauth-clients/client-change.ts'
import { secretThatMatches } from '../../../src/oauth/clients/secret.ts'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import type { Fault } from '../../../src/errors/catalogue/refusal.ts'
import { oauthScopes } from '../../../src/permissions/scopes.ts'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import { oauthClient, verification } from '../../store/contract-specimens.ts'

const keys = new SecretKeys(randomBytes(32))
const now = Date.UTC(2026, 5, 1)
const hour = 3_600_000

const clientUri = 'https://app.example.com/'
const host = 'app.example.com'
const proven = verification({ host, status: 'verified', nextCheckAt: null, verifiedAt: now - hour })
const ready = oauthClient({ clientUri, verification: proven })
const open = { ...ready, visibility: 'public', promotedAt: now - hour } as const
const appClient = oauthClient({ tokenEndpointAuthMethod: 'none', secrets: [] })

const change = (client: OAuthClient, body: object) => changeClient(client, body, keys, now, oauthScopes)
function done(client: OAuthClient, body: object): ChangedClient {
  const changed = change(client, body)
  assert.ok('client' in changed, JSON.stringify(changed))
  return changed
}
const refused = (client: OAuthClient, body: object) => {
  const changed = change(client, body)
  assert.ok(Array.isArray(changed), 'it was not refused')
  return (changed as readonly Fault[]).map(({ code, pointer }) => [code, pointer])
}

test('a change is the next revision, and changes what it names and nothing else', () => {
  const { client } = done(ready, { client_name: 'Other', policy_uri: 'https://b.example/' })
  assert.deepEqual(client, {
    ...ready,
    name: 'Other',
    policyUri: 'https://b.example/',
    revision: ready.revision + 1,
    updatedAt: now,
  })
})

test('a change of nothing is none', () => {
  const { logoUri, scopes } = ready
  for (const body of [
    {},
    { visibility: 'private' },
    { logo_uri: logoUri, scopes },
    { client_uri: clientUri },
  ])
    assert.equal(done(ready, body).client, ready)
  assert.equal(done(open, { visibility: 'public' }).client, open)
})

test('a client that begins to authenticate gets a secret, once', () => {
  const { client, secret } = done(appClient, { token_endpoint_auth_method: 'client_secret_post' })
  assert.equal(client.secrets.length, 1)
  assert.ok(secretThatMatches(client, secret!, keys))
  assert.equal(done(client, { token_endpoint_auth_method: 'client_secret_basic' }).secret, null)
})

test('a client that stops authenticating loses its secrets, and another method keeps both', () => {
  assert.deepEqual(done(ready, { token_endpoint_auth_method: 'none' }).client.secrets, [])
  const { client, secret } = done(ready, { token_endpoint_auth_method: 'client_secret_post' })
  assert.deepEqual([client.secrets, secret], [ready.secrets, null])
})

test('a refused change creates no secret', () => {
  assert.deepEqual(refused(appClient, { token_endpoint_auth_method: 'client_secret_post', logo_uri: 5 }), [
    [10001, '/logo_uri'],
  ])
})

test('a client is published when it has all that a public one needs', () => {
  const { client } = done(ready, { visibility: 'public' })
  assert.deepEqual([client.visibility, client.promotedAt], ['public', now])
})

for (const [what, more, count] of [
  ['a logo', { logoUri: null }, 1],
  ['a client_uri', { clientUri: null, verification: null }, 1],
  ['a host that is verified', { verification: verification({ host }) }, 1],
  [
    'a host whose proof did not fail',
    { verification: verification({ host, status: 'failed', nextCheckAt: null }) },
    1,
  ],
  ['a scope beyond identity', { scopes: ['openid', 'offline_access'] }, 1],
  ['all of it', { logoUri: null, clientUri: null, verification: null, scopes: ['openid'] }, 3],
] as const)
  test(`without ${what} a client is not published, and each thing that is missing is told`, () => {
    assert.deepEqual(
      refused({ ...ready, ...more }, { visibility: 'public' }),
      Array.from({ length: count }, () => [10412, '/visibility']),
    )
  })

test('what is missing may come with the word that publishes, but for the proof', () => {
  const bare = { ...ready, logoUri: null, scopes: ['openid'] }
  const body = { logo_uri: 'https://b.example/l', scopes: ['openid', 'ai_gateway.run'], visibility: 'public' }
  assert.equal(done(bare, body).client.visibility, 'public')
  const elsewhere = { ...ready, clientUri: null, verification: null }
  assert.deepEqual(refused(elsewhere, { client_uri: clientUri, visibility: 'public' }), [
    [10412, '/visibility'],
  ])
})

for (const [what, body, faults] of [
  ['goes back to private', { visibility: 'private' }, [[10413, '/visibility']]],
  ['loses its client_uri', { client_uri: null }, [[10413, '/client_uri']]],
  ['moves to another host', { client_uri: 'https://b.example/' }, [[10413, '/client_uri']]],
  ['loses its logo', { logo_uri: null }, [[10412, '/logo_uri']]],
  ['is left with scopes of identity', { scopes: ['openid'] }, [[10412, '/scopes']]],
  [
    'moves, goes back to private and loses its logo',
    { client_uri: 'https://b.example/', visibility: 'private', logo_uri: null },
    [
      [10413, '/client_uri'],
      [10413, '/visibility'],
      [10412, '/logo_uri'],
    ],
  ],
  [
    'loses all that it needs',
    { client_uri: null, logo_uri: null, scopes: ['user.read'] },
    [
      [10413, '/client_uri'],
      [10412, '/logo_uri'],
      [10412, '/scopes'],
    ],
  ],
  [
    'goes back to private without its client_uri',
    { client_uri: null, visibility: 'private' },
    [
      [10413, '/visibility'],
      [10413, '/client_uri'],
    ],
  ],
  [
    'loses its logo beside a name of nothing',
    { client_name: '', logo_uri: null },
    [
      [10001, '/client_name'],
      [10412, '/logo_uri'],
    ],
  ],
  [
    'moves beside what only the server sets',
    { client_id: 'x', client_uri: 'https://b.example/', scopes: ['openid'] },
    [
      [10005, '/client_id'],
      [10413, '/client_uri'],
      [10412, '/scopes'],
    ],
  ],
  [
    'is told of one member twice',
    { client_name: ' ', client_uri: 'x', logo_uri: 5, scopes: ['offline_access'] },
    [
      [10001, '/client_name'],
      [10001, '/logo_uri'],
      [10001, '/client_uri'],
      [10001, '/scopes'],
    ],
  ],
  [
    'takes a visibility that there is not, nor loses its logo',
    { visibility: 'secret', logo_uri: null },
    [
      [10001, '/visibility'],
      [10412, '/logo_uri'],
    ],
  ],
] as const)
  test(`a public client never ${what}`, () => {
    assert.deepEqual(refused(open, body), faults)
  })

for (const [what, more, body, faults] of [
  [
    'a name of nothing',
    { logoUri: null },
    { client_name: '' },
    [
      [10001, '/client_name'],
      [10412, '/visibility'],
    ],
  ],
  [
    'a logo that is none',
    { logoUri: null, scopes: ['openid', 'offline_access'] },
    { logo_uri: 'x' },
    [
      [10001, '/logo_uri'],
      [10412, '/visibility'],
    ],
  ],
  [
    'another host than the verified one',
    { logoUri: null },
    { client_uri: 'https://b.example/' },
    [
      [10413, '/client_uri'],
      [10412, '/visibility'],
    ],
  ],
  [
    'its client_uri taken away',
    { logoUri: null },
    { client_uri: null },
    [
      [10412, '/visibility'],
      [10412, '/visibility'],
    ],
  ],
] as const)
  test(`with ${what} a client is not published, and what else is missing is reported as well`, () => {
    assert.deepEqual(refused({ ...ready, ...more }, { ...body, visibility: 'public' }), faults)
  })

test('a body that is not an object is refused with one fault', () => {
  for (const client of [ready, open, appClient]) assert.deepEqual(refused(client, []), [[10001, '']])
})

test('a public client may change all else', () => {
  const body = { client_name: 'New', client_uri: `${clientUri}page`, logo_uri: 'https://b.example/l' }
  const { client } = done(open, body)
  assert.deepEqual(
    [client.visibility, client.promotedAt, client.verification],
    ['public', open.promotedAt, proven],
  )
})

test('a verified host is frozen, its path is not, and a private client may remove it', () => {
  assert.deepEqual(refused(ready, { client_uri: 'https://b.example/' }), [[10413, '/client_uri']])
  assert.equal(done(ready, { client_uri: `${clientUri}page` }).client.verification, proven)
  const { client } = done(ready, { client_uri: null })
  assert.deepEqual([client.clientUri, client.verification], [null, proven])
})

test('a verified host that was taken away is the only one that comes back, in whichever order', () => {
  const bare = done(ready, { client_uri: null }).client
  const others = [
    'https://b.example/',
    `https://sub.${host}/`,
    `https://${host.split('.').slice(1).join('.')}x/`,
  ]
  for (const client_uri of others) assert.deepEqual(refused(bare, { client_uri }), [[10413, '/client_uri']])
  const twice = done(bare, { client_name: 'Other' }).client
  assert.deepEqual(refused(twice, { client_uri: 'https://b.example/' }), [[10413, '/client_uri']])
  const back = done(twice, { client_uri: `https://${host}:8443/page` }).client
  assert.deepEqual(back.verification, proven)
  assert.equal(done(back, { client_uri: clientUri, visibility: 'public' }).client.visibility, 'public')
  assert.deepEqual(refused(bare, { visibility: 'public' }), [[10412, '/visibility']])
})

test('another host starts over, with a code of its own', () => {
  const client = oauthClient({ clientUri, verification: verification({ host, status: 'in_progress' }) })
  const { verification: begun } = done(client, { client_uri: 'https://b.example/' }).client
  assert.deepEqual([begun?.host, begun?.status, begun?.startedAt], ['b.example', 'pending', now])
  assert.notEqual(begun?.code, client.verification?.code)
})

test('the same client_uri restarts a failed verification, and any other change does not', () => {
  const failed = verification({ host, status: 'failed', nextCheckAt: null, deadline: now - hour })
  const client = oauthClient({ clientUri, verification: failed })
  const again = done(client, { client_uri: clientUri }).client
  assert.deepEqual(
    [again.verification?.status, again.verification?.code, again.verification?.nextCheckAt],
    ['pending', failed.code, now],
  )
  assert.equal(again.revision, client.revision + 1)
  assert.equal(done(client, { client_name: 'Other' }).client.verification, failed)
})
