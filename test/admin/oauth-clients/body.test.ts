import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readClientChange, readNewClient } from '../../../src/admin/oauth-clients/body.ts'
import type { Fault } from '../../../src/errors/catalogue/refusal.ts'
import { oauthClient } from '../../store/contract-specimens.ts'
import { oauthScopes } from '../../../src/permissions/scopes.ts'

const least = {
  client_name: 'My app',
  grant_types: ['authorization_code'],
  redirect_uris: ['https://app.example.com/back'],
  response_types: ['code'],
  scopes: ['ai_gateway.run'],
  token_endpoint_auth_method: 'client_secret_basic',
}
const kept = oauthClient({
  grantTypes: ['authorization_code'],
  redirectUris: ['https://app.example.com/back'],
  scopes: ['ai_gateway.run', 'user.read'],
  optionalScopes: ['user.read'],
})
const app = 'com.example.app:/back'

const pointersOf = (read: object) =>
  Array.isArray(read) ? read.map(({ pointer }: Fault) => pointer).sort() : []
const created = (more: object) => readNewClient({ ...least, ...more }, oauthScopes)
const changed = (body: object, of = kept) => {
  const change = readClientChange(body, of, oauthScopes)
  return change.faults.length > 0 ? change.faults : change
}
const messagesOf = (read: object) => (read as readonly Fault[]).map(({ message }) => message)

test('a new client needs only the required members', () => {
  assert.deepEqual(readNewClient(least, oauthScopes), {
    name: 'My app',
    grantTypes: ['authorization_code'],
    responseTypes: ['code'],
    tokenEndpointAuthMethod: 'client_secret_basic',
    redirectUris: ['https://app.example.com/back'],
    postLogoutRedirectUris: [],
    allowedCorsOrigins: [],
    scopes: ['ai_gateway.run'],
    optionalScopes: [],
    logoUri: null,
    policyUri: null,
    tosUri: null,
    clientUri: null,
  })
})

test('null is for an optional member what its absence is', () => {
  const none = {
    optional_scopes: null,
    post_logout_redirect_uris: null,
    allowed_cors_origins: null,
    logo_uri: null,
    policy_uri: null,
    tos_uri: null,
    client_uri: null,
  }
  assert.deepEqual(created(none), readNewClient(least, oauthScopes))
})

test('offline_access follows refresh_token', () => {
  const scopesOf = (more: object) => (created(more) as { scopes: unknown }).scopes
  const both = ['authorization_code', 'refresh_token']
  assert.deepEqual(scopesOf({ grant_types: both }), ['ai_gateway.run', 'offline_access'])
  assert.deepEqual(scopesOf({ scopes: ['offline_access', 'openid'] }), ['openid'])
  const { settings } = changed({ grant_types: both }) as { settings: { scopes: unknown } }
  assert.deepEqual(settings.scopes, ['ai_gateway.run', 'user.read', 'offline_access'])
})

test('everything that is missing is reported at once', () => {
  const read = readNewClient({}, oauthScopes) as readonly Fault[]
  assert.deepEqual(
    pointersOf(read),
    Object.keys(least)
      .map(name => `/${name}`)
      .sort(),
  )
  assert.ok(read.every(({ code }) => code === 10002))
})

for (const [what, more, pointers] of [
  ['no text as name', { client_name: 5 }, ['/client_name']],
  ['a name of nothing', { client_name: '' }, ['/client_name']],
  ['a name that turns text round', { client_name: 'a\u202eb' }, ['/client_name']],
  ['a required member of null', { client_name: null, scopes: null }, ['/client_name', '/scopes']],
  ['no redirect URI', { redirect_uris: [] }, ['/redirect_uris']],
  ['a redirect URI beside its list', { redirect_uris: 'https://a.example/' }, ['/redirect_uris']],
  ['21 redirect URIs', { redirect_uris: urisOf(21) }, ['/redirect_uris']],
  ['a fragment', { redirect_uris: ['https://a.example/', 'https://a.example/#'] }, ['/redirect_uris/1']],
  ['a number among URIs', { redirect_uris: [7] }, ['/redirect_uris/0']],
  [
    'the same URI twice',
    { redirect_uris: ['https://a.example/', 'https://a.example/'] },
    ['/redirect_uris/1'],
  ],
  [
    'the same URI without its slash',
    { redirect_uris: ['https://a.example', 'https://a.example/'] },
    ['/redirect_uris/1'],
  ],
  ['a lone surrogate in a name', { '\ud800': 1 }, ['/\ufffd']],
  ['a scheme of an app with a secret', { redirect_uris: [app] }, ['/redirect_uris/0']],
  ['the same after logout', { post_logout_redirect_uris: [app] }, ['/post_logout_redirect_uris/0']],
  ['an origin with a path', { allowed_cors_origins: ['https://a.example/x'] }, ['/allowed_cors_origins/0']],
  ['21 origins', { allowed_cors_origins: urisOf(21) }, ['/allowed_cors_origins']],
  ['a logo over http', { logo_uri: 'http://a.example/l' }, ['/logo_uri']],
  ['pages that are none', { policy_uri: 'x', tos_uri: 1 }, ['/policy_uri', '/tos_uri']],
  ['a client_uri at an address', { client_uri: 'https://192.0.2.1/' }, ['/client_uri']],
  ['a client_uri at a public suffix', { client_uri: 'https://co.uk/' }, ['/client_uri']],
  ['another method', { token_endpoint_auth_method: 'private_key_jwt' }, ['/token_endpoint_auth_method']],
  ['another grant type', { grant_types: ['authorization_code', 'implicit'] }, ['/grant_types/1']],
  ['no code grant', { grant_types: ['refresh_token'] }, ['/grant_types']],
  ['a grant type twice', { grant_types: ['authorization_code', 'authorization_code'] }, ['/grant_types/1']],
  ['another response type', { response_types: ['code', 'token'] }, ['/response_types/1']],
  ['no response type', { response_types: [] }, ['/response_types']],
  [
    'scopes that are none',
    { scopes: ['ai_gateway:run', 'ai_gateway.fly', 5] },
    ['/scopes/0', '/scopes/1', '/scopes/2'],
  ],
  ['a scope twice', { scopes: ['openid', 'openid'] }, ['/scopes/1']],
  ['nothing but offline_access', { scopes: ['offline_access'] }, ['/scopes']],
  ['an optional scope that is no scope of it', { optional_scopes: ['user.read'] }, ['/optional_scopes/0']],
  [
    'optional scopes that never are',
    { scopes: ['openid', 'user.read'], optional_scopes: ['openid', 'offline', 'offline_access'] },
    ['/optional_scopes/0', '/optional_scopes/1', '/optional_scopes/2'],
  ],
  ['an unknown member', { colour: 'red' }, ['/colour']],
  ['visibility', { visibility: 'private' }, ['/visibility']],
  [
    'what is the server’s',
    { client_id: 'a', client_secret: 'b', has_rotated_secret: false, promoted_at: null },
    ['/client_id', '/client_secret', '/has_rotated_secret', '/promoted_at'],
  ],
  [
    'many faults',
    { client_name: '', redirect_uris: ['x'], logo_uri: 'x', scopes: ['x'], created_at: 1 },
    ['/client_name', '/created_at', '/logo_uri', '/redirect_uris/0', '/scopes/0'],
  ],
] as const)
  test(`a new client is refused with ${what}, by pointer`, () => {
    assert.deepEqual(pointersOf(created(more)), pointers)
  })

test('unsupported values are refused by name, with the supported ones', () => {
  const flow =
    /^grant_types\[1\] cannot be "client_credentials": only the Authorization Code flow is supported/
  assert.match(messagesOf(created({ grant_types: ['authorization_code', 'client_credentials'] }))[0]!, flow)
  assert.match(
    messagesOf(created({ response_types: ['id_token'] }))[0]!,
    /"id_token".*Authorization Code.*is code$/,
  )
  assert.match(messagesOf(created({ client_id: 'x' }))[0]!, /^client_id is set by the server$/)
})

test('a scheme of an app is for clients without a secret', () => {
  const read = created({ redirect_uris: [app], token_endpoint_auth_method: 'none' })
  assert.deepEqual((read as { redirectUris: unknown }).redirectUris, [app])
  assert.deepEqual(pointersOf(created({ redirect_uris: [app], token_endpoint_auth_method: 'jwt' })), [
    '/token_endpoint_auth_method',
  ])
})

test('a change of nothing leaves all as it is', () => {
  const read = changed({})
  assert.ok('settings' in read)
  assert.deepEqual({ ...kept, ...read.settings }, kept)
  assert.deepEqual([read.visibility, read.setsClientUri], [null, false])
})

for (const [body, expected] of [
  [{ client_name: 'Other' }, { name: 'Other' }],
  [{ logo_uri: null }, { logoUri: null }],
  [{ allowed_cors_origins: null }, { allowedCorsOrigins: [] }],
  [{ redirect_uris: ['https://b.example/'] }, { redirectUris: ['https://b.example/'] }],
  [{ scopes: ['user.read'] }, { scopes: ['user.read'] }],
  [{ optional_scopes: [] }, { optionalScopes: [] }],
  [{ client_uri: 'https://b.example/x' }, { clientUri: 'https://b.example/x' }],
] as const)
  test(`a change of ${Object.keys(body)} alone changes that alone`, () => {
    const read = changed(body)
    assert.ok('settings' in read)
    assert.deepEqual({ ...kept, ...read.settings }, { ...kept, ...expected })
  })

const appClient = oauthClient({ tokenEndpointAuthMethod: 'none', redirectUris: [app], secrets: [] })

for (const [what, body, of, pointers] of [
  ['scopes without an optional one', { scopes: ['ai_gateway.run'] }, kept, ['/scopes']],
  [
    'an optional scope beyond the kept ones',
    { optional_scopes: ['ai_gateway.edit'] },
    kept,
    ['/optional_scopes/0'],
  ],
  [
    'a method that kept URIs do not go with',
    { token_endpoint_auth_method: 'client_secret_post' },
    appClient,
    ['/token_endpoint_auth_method'],
  ],
  ['an app URI under a kept method', { redirect_uris: [app] }, kept, ['/redirect_uris/0']],
  [
    'required members of null',
    { redirect_uris: null, response_types: null },
    kept,
    ['/redirect_uris', '/response_types'],
  ],
  ['visibility of null', { visibility: null }, kept, ['/visibility']],
  ['visibility of another kind', { visibility: 'secret' }, kept, ['/visibility']],
  [
    'what is the server’s',
    { updated_at: 'x', client_uri_verification: {} },
    kept,
    ['/client_uri_verification', '/updated_at'],
  ],
  ['no object', [] as object, kept, ['']],
] as const)
  test(`a change is refused with ${what}, by pointer`, () => {
    assert.deepEqual(pointersOf(changed(body, of)), pointers)
  })

test('next to a fault the rest of a change is read, and refused members stay as they were', () => {
  const body = { client_name: '', logo_uri: 5, client_uri: null, visibility: 'public' }
  const { settings, visibility, setsClientUri, faults } = readClientChange(body, kept, oauthScopes)
  assert.deepEqual(pointersOf(faults), ['/client_name', '/logo_uri'])
  assert.deepEqual([settings.name, settings.logoUri, settings.clientUri], [kept.name, kept.logoUri, null])
  assert.deepEqual([visibility, setsClientUri], ['public', true])
})

test('a method and the URIs that go with it may come together', () => {
  const body = { token_endpoint_auth_method: 'client_secret_post', redirect_uris: ['https://b.example/'] }
  assert.ok('settings' in changed(body, appClient))
})

test('whatever a body is, it is read or refused with pointers', () => {
  const names = [
    ...Object.keys(least),
    'optional_scopes',
    'client_uri',
    'visibility',
    '__proto__',
    'toString',
  ]
  const some = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 2 })),
  )
  fc.assert(
    fc.property(some, value => {
      for (const read of [readNewClient(value, oauthScopes), changed(value as object)])
        if (Array.isArray(read)) assert.ok(read.length > 0 && read.every(({ pointer }) => pointer !== null))
        else assert.ok('name' in read || 'settings' in read)
    }),
    { numRuns: 2_000 },
  )
})

function urisOf(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `https://a${i}.example`)
}
