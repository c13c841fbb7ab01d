// Random bodies, most of them nearly valid, and what is kept of them by rules that are written down here once more.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { oauthScopes } from '../../../src/permissions/scopes.ts'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { oauthClient, verification } from '../../store/contract-specimens.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { bodyOfClient } from './client-bodies.ts'

const path = '/oauth_clients'
const runs = { numRuns: 300 }

const uris = [
  'https://app.example.com/back',
  'https://app.example.com',
  'https://b.example/x?y=1',
  'http://127.0.0.1:8000/cb',
  'http://[::1]/cb',
  'http://localhost/',
  'com.example.app:/back',
  'app:/back',
  'http://b.example/',
  'https:b.example/',
  'https://a\\@b.example/',
  'https://user@b.example/',
  'https://b.example/#',
  'https://b.example:443/',
  'https://B.example/',
  'https://b.example/%2e%2e/',
  'https://*.b.example/',
  'https://b.example/?code=1',
  'https://127.1/',
  'https://2130706433/',
  'https://192.0.2.1/',
  'https://co.uk/',
  'https://x.pages.dev/',
  'https://localhost/',
  'java\nscript:alert(1)',
  'javascript:alert(1)',
  ' https://b.example/',
  'https://bücher.example/',
  `https://b.example/${'x'.repeat(500)}`,
  `https://b.example/${'x'.repeat(2_040)}`,
  '',
]
const names = [
  'A',
  '',
  ' ',
  'a\u0000',
  'a\u202eb',
  'e\u0301',
  '\ud800',
  'x'.repeat(100),
  '🗝'.repeat(100),
  'x'.repeat(101),
]
const scopeIds = [...oauthScopes.map(({ id }) => id), 'offline', 'ai_gateway:run', 'none.such', '__proto__']

const junk = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(null, true, 0, '', [], {}, [null], [[]]))
const uri = fc.constantFrom(...uris)
const listOf = <T>(item: fc.Arbitrary<T>) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.array(fc.oneof({ weight: 12, arbitrary: item }, junk), { maxLength: 3 }) },
    fc.array(item, { minLength: 19, maxLength: 22 }),
  )
const page = fc.oneof({ weight: 5, arbitrary: uri }, fc.constant(null))

/** What may stand in each member: right, nearly right and wrong. */
const members: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  client_name: fc.oneof(fc.constantFrom(...names), fc.string({ unit: anyCharacter, maxLength: 110 })),
  grant_types: listOf(
    fc.constantFrom('authorization_code', 'refresh_token', 'implicit', 'client_credentials'),
  ),
  response_types: listOf(fc.constantFrom('code', 'code', 'token')),
  token_endpoint_auth_method: fc.constantFrom(
    'client_secret_basic',
    'client_secret_post',
    'none',
    'private_key_jwt',
  ),
  redirect_uris: listOf(uri),
  post_logout_redirect_uris: listOf(uri),
  allowed_cors_origins: listOf(
    fc.oneof(uri, fc.constantFrom('https://b.example', 'http://localhost:3000', 'null')),
  ),
  scopes: listOf(fc.constantFrom(...scopeIds)),
  optional_scopes: listOf(fc.constantFrom(...scopeIds)),
  logo_uri: page,
  policy_uri: page,
  tos_uri: page,
  client_uri: page,
  visibility: fc.constantFrom('public', 'private', 'none'),
  client_secret: fc.constant('svcs_mine'),
  updated_at: fc.constant('2026-01-01T00:00:00Z'),
  ['__proto__']: fc.constant({ visibility: 'public' }),
  constructor: junk,
}
const member = fc
  .constantFrom(...Object.keys(members))
  .chain(name => fc.tuple(fc.constant(name), fc.oneof({ weight: 8, arbitrary: members[name] ?? junk }, junk)))
const changes = fc.array(member, { minLength: 1, maxLength: 3 }).map(pairs => Object.fromEntries(pairs))
const newBody = fc.oneof(
  { weight: 9, arbitrary: changes.map(change => bodyOfClient(change)) },
  { weight: 2, arbitrary: fc.tuple(changes, changes).map(([a, b]) => ({ ...a, ...b })) },
  junk,
)

test('300 random bodies of new clients are never a 5xx, and nothing is kept that the rules forbid', async t => {
  const { ask, kept, bugs } = await startApi(t)
  let created = 0
  await fc.assert(
    fc.asyncProperty(newBody, async body => {
      const { status, json } = await ask('POST', path, { body: JSON.stringify(body) })
      assert.ok(status === 200 || status === 400, String(status))
      if (status === 400) return assert.ok(json.errors.length > 0)
      created++
      const { client_id, visibility } = json.result
      assert.equal(visibility, 'private')
      return mustBeSound((await kept.oauthClients.get(account, client_id))!.record)
    }),
    runs,
  )
  assert.deepEqual(bugs, [])
  assert.equal((await kept.oauthClients.list(account, { offset: 0, limit: 1 })).total, created)
  assert.ok(created > 5, `only ${created} bodies were valid`)
})

test('300 random changes are never a 5xx, and leave no client that the rules forbid', async t => {
  const { ask, kept, bugs, clock } = await startApi(t)
  const proven = verification({ status: 'verified', nextCheckAt: null, verifiedAt: 0 })
  const sound = {
    redirectUris: ['https://app.example.com/back'],
    scopes: ['ai_gateway.run', 'user.read', 'offline_access'],
  }
  const clients = [
    oauthClient({ ...sound, account, optionalScopes: ['user.read'] }),
    oauthClient({ ...sound, account, verification: proven }),
    oauthClient({ ...sound, account, verification: proven, visibility: 'public', promotedAt: 0 }),
    oauthClient({
      ...sound,
      account,
      tokenEndpointAuthMethod: 'none',
      secrets: [],
      redirectUris: ['com.example.app:/back'],
    }),
  ]
  for (const client of clients) await kept.oauthClients.insert(client)
  const ids = clients.map(({ id }) => id)
  let changed = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ids),
      fc.oneof({ weight: 20, arbitrary: changes }, junk),
      async (id, body) => {
        clock.advance(1_000)
        const { record: before } = (await kept.oauthClients.get(account, id))!
        const { status } = await ask('PATCH', `${path}/${id}`, { body: JSON.stringify(body) })
        const { record: after } = (await kept.oauthClients.get(account, id))!
        assert.ok(status === 200 || status === 400, String(status))
        if (status === 400) return assert.deepEqual(after, before)
        changed += after.revision - before.revision
        mustBeSound(after)
        mustFollow(before, after, body as object)
      },
    ),
    runs,
  )
  assert.deepEqual(bugs, [])
  assert.ok(changed > 5, `only ${changed} changes were valid`)
})

test('a body that is nested as deep as its size allows is refused like any other', async t => {
  const { ask, bugs } = await startApi(t)
  const deep = '['.repeat(500_000) + ']'.repeat(500_000)
  for (const name of ['client_name', 'grant_types', 'x']) {
    const body = JSON.stringify(bodyOfClient({ [name]: 'deep' })).replace('"deep"', deep)
    const { status } = await ask('POST', path, { body, headers: { 'idempotency-key': 'deep' } })
    assert.equal(status, 400, name)
  }
  assert.equal((await ask('POST', path, { body: deep })).status, 400)
  assert.deepEqual(bugs, [])
})

function mustBeSound(client: OAuthClient): void {
  const { name, grantTypes, responseTypes, tokenEndpointAuthMethod: method, secrets, scopes } = client
  assert.ok(
    [...name].length >= 1 && [...name].length <= 100 && name === name.normalize('NFC') && name.isWellFormed(),
  )
  assert.doesNotMatch(name, /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
  assert.ok(grantTypes.includes('authorization_code'))
  assert.ok(grantTypes.every(grant => /^(authorization_code|refresh_token)$/.test(grant)))
  assert.deepEqual(responseTypes, ['code'])
  assert.match(method, /^(client_secret_basic|client_secret_post|none)$/)
  assert.ok(method === 'none' ? secrets.length === 0 : secrets.length === 1 || secrets.length === 2)

  const { redirectUris, postLogoutRedirectUris, allowedCorsOrigins, optionalScopes } = client
  for (const list of [
    redirectUris,
    postLogoutRedirectUris,
    allowedCorsOrigins,
    scopes,
    optionalScopes,
    grantTypes,
  ])
    assert.equal(new Set(list).size, list.length)
  assert.ok(redirectUris.length >= 1)
  for (const list of [redirectUris, postLogoutRedirectUris, allowedCorsOrigins]) assert.ok(list.length <= 20)
  for (const redirect of [...redirectUris, ...postLogoutRedirectUris]) mustBeRedirect(redirect, method)
  for (const origin of allowedCorsOrigins) {
    assert.equal(new URL(origin).origin, origin)
    mustBeWeb(origin)
  }

  assert.ok(scopes.length >= 1 && scopes.every(scope => oauthScopes.some(({ id }) => id === scope)))
  assert.equal(scopes.includes('offline_access'), grantTypes.includes('refresh_token'))
  assert.ok(
    optionalScopes.every(scope => scopes.includes(scope) && !/^(openid|offline|offline_access)$/.test(scope)),
  )

  for (const page of [client.logoUri, client.policyUri, client.tosUri, client.clientUri])
    if (page !== null) {
      mustBeCanonical(page, 2_048)
      assert.ok(page.startsWith('https://'))
    }
  if (client.clientUri !== null) assert.equal(new URL(client.clientUri).hostname, client.verification?.host)
  // What was verified stays so without it.
  else assert.equal(client.verification?.status ?? 'verified', 'verified')
  if (client.verification) assert.match(client.verification.host, /^[a-z]+\.(?!pages\.dev$)[a-z.]+[a-z]$/)
  if (client.visibility === 'public') {
    assert.ok(
      client.logoUri !== null && client.verification?.status === 'verified' && client.promotedAt !== null,
    )
    assert.ok(scopes.some(scope => !['openid', 'offline_access', 'user.read'].includes(scope)))
  }
}

function mustBeCanonical(uri: string, longest: number): void {
  const { href, username, password } = new URL(uri)
  assert.ok(href === uri || href === `${uri}/`, uri)
  assert.ok(uri.length <= longest && /^[!-~]+$/.test(uri) && !/[#*\\]/.test(uri), uri)
  assert.equal(username + password, '')
}

function mustBeWeb(uri: string): void {
  assert.match(uri, /^(https:\/\/|http:\/\/(127\.0\.0\.1|\[::1\]|localhost)([:/]|$))/)
}

function mustBeRedirect(uri: string, method: string): void {
  mustBeCanonical(uri, 512)
  const { searchParams } = new URL(uri)
  for (const key of ['code', 'state', 'iss', 'error']) assert.ok(!searchParams.has(key), uri)
  if (method === 'none' && /^[a-z]+\.[a-z.]+:/.test(uri)) return
  mustBeWeb(uri)
}

/** Asserts that a change did what its body says, and no more. */
function mustFollow(before: OAuthClient, after: OAuthClient, body: object): void {
  assert.equal(after.visibility, 'visibility' in body ? body.visibility : before.visibility)
  if (before.visibility === 'public') assert.equal(after.visibility, 'public')
  for (const [name, member] of [
    ['client_name', 'name'],
    ['redirect_uris', 'redirectUris'],
    ['post_logout_redirect_uris', 'postLogoutRedirectUris'],
    ['allowed_cors_origins', 'allowedCorsOrigins'],
    ['optional_scopes', 'optionalScopes'],
    ['logo_uri', 'logoUri'],
    ['policy_uri', 'policyUri'],
    ['tos_uri', 'tosUri'],
    ['client_uri', 'clientUri'],
    ['token_endpoint_auth_method', 'tokenEndpointAuthMethod'],
  ] as const) {
    const said: unknown = Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : before[member]
    assert.deepEqual(after[member], said === null && Array.isArray(before[member]) ? [] : said, name)
  }
  if (!('scopes' in body) && !('grant_types' in body)) assert.deepEqual(after.scopes, before.scopes)
  if (before.verification?.status === 'verified') assert.deepEqual(after.verification, before.verification)
  const fixed = ({ account, id, createdAt }: OAuthClient) => ({ account, id, createdAt })
  assert.deepEqual(fixed(after), fixed(before))
}
