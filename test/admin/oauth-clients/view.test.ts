import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewClient } from '../../../src/admin/oauth-clients/view.ts'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import { clientSecret, oauthClient } from '../../store/contract-specimens.ts'

const at = Date.UTC(2026, 0, 1)
const keys = new SecretKeys(Buffer.alloc(32, 1))
const key = keys.currentId

test('a client with nothing optional shows lists that are empty, and no texts that are not set', () => {
  const client = oauthClient({
    secrets: [],
    logoUri: null,
    clientUri: null,
    verification: null,
    allowedCorsOrigins: [],
    tokenEndpointAuthMethod: 'none',
  })
  assert.deepEqual(viewClient(client, keys), {
    client_id: client.id,
    client_name: client.name,
    grant_types: client.grantTypes,
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    redirect_uris: client.redirectUris,
    post_logout_redirect_uris: [],
    allowed_cors_origins: [],
    scopes: client.scopes,
    optional_scopes: [],
    visibility: 'private',
    has_rotated_secret: false,
    client_secrets: [],
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
  })
})

test('a use in the hour in which a secret was created is shown no earlier than that', () => {
  const createdAt = at + 25 * 60_000
  const shown = (lastUsedAt: number) =>
    viewClient(oauthClient({ secrets: [clientSecret({ key, createdAt, lastUsedAt })] }), keys)
      .client_secrets[0]!.last_used_at
  assert.equal(shown(at), '2026-01-01T00:25:00.000Z')
  assert.equal(shown(at + 60 * 60_000), '2026-01-01T01:00:00.000Z')
})

test('secrets are distinguished by their last characters, the newest first, and a digest or its key is never shown', () => {
  const secrets = [clientSecret({ key, tail: 'new4' }), clientSecret({ key, tail: 'old4', lastUsedAt: at })]
  const view = viewClient(oauthClient({ secrets }), keys)
  assert.equal(view.has_rotated_secret, true)
  assert.deepEqual(
    view.client_secrets.map(({ tail, last_used_at }) => [tail, last_used_at]),
    [
      ['new4', undefined],
      ['old4', '2026-01-01T00:00:00.000Z'],
    ],
  )
  const text = JSON.stringify(view)
  for (const { digest, key } of secrets) assert.ok(!text.includes(digest) && !text.includes(`"${key}"`))
  assert.ok(!('client_secret' in view))
})

test('a secret that was made just now is shown, and the account is not', () => {
  const client = oauthClient({
    promotedAt: at,
    policyUri: 'https://a.example/p',
    tosUri: 'https://a.example/t',
  })
  const view = viewClient(client, keys, 'svcs_value')
  assert.deepEqual(
    [view.client_secret, view.promoted_at, view.policy_uri, view.tos_uri],
    ['svcs_value', '2026-01-01T00:00:00.000Z', 'https://a.example/p', 'https://a.example/t'],
  )
  assert.ok(!JSON.stringify(view).includes(client.account))
})

test('a client whose secrets were made under a server key that is lost says so', () => {
  const [good, lost] = [clientSecret({ key }), clientSecret({ key: 'ffffffff' })]
  const view = (secrets: (typeof good)[]) => {
    const { secret_status, client_secrets } = viewClient(oauthClient({ secrets }), keys)
    return [secret_status, client_secrets.map(({ status }) => status)]
  }
  assert.deepEqual(view([good]), [undefined, [undefined]])
  assert.deepEqual(view([]), [undefined, []])
  assert.deepEqual(view([lost]), ['key_lost', ['key_lost']])
  assert.deepEqual(view([good, lost]), ['partly_key_lost', [undefined, 'key_lost']])
})
