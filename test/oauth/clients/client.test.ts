import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newClient, revised } from '../../../src/oauth/clients/client.ts'
import { account, clientWith, mint, verificationWith } from './client-with.ts'

const settings = {
  name: 'A client',
  grantTypes: ['authorization_code', 'refresh_token'],
  responseTypes: ['code'],
  tokenEndpointAuthMethod: 'client_secret_post',
  redirectUris: ['https://app.example/cb'],
  postLogoutRedirectUris: ['https://app.example/bye'],
  allowedCorsOrigins: ['https://app.example'],
  scopes: ['ai_gateway.run', 'offline_access'],
  optionalScopes: ['ai_gateway.run'],
  logoUri: 'https://app.example/logo.svg',
  policyUri: null,
  tosUri: null,
  clientUri: 'https://app.example/',
} as const

test('a new client is private, in its first revision, with its settings and what came with it', () => {
  const [secret, verification] = [mint(), verificationWith()]
  const { id, ...rest } = newClient(account, settings, { secret, verification, now: 7 })
  assert.match(id, /^[0-9a-f]{32}$/)
  assert.deepEqual(rest, {
    ...settings,
    account,
    visibility: 'private',
    secrets: [secret],
    verification,
    revision: 1,
    createdAt: 7,
    updatedAt: 7,
    promotedAt: null,
  })
})

test('a client without a secret has none, and no two have the same id', () => {
  const none = { ...settings, tokenEndpointAuthMethod: 'none', clientUri: null } as const
  const [one, other] = [1, 2].map(now =>
    newClient(account, none, { secret: null, verification: null, now }),
  ) as [ReturnType<typeof newClient>, ReturnType<typeof newClient>]
  assert.deepEqual([one.secrets, one.verification], [[], null])
  assert.notEqual(one.id, other.id)
})

test('a change is the next revision, and changes nothing that it does not name', () => {
  const client = clientWith({ revision: 4 })
  const before = structuredClone(client)
  assert.deepEqual(revised(client, { name: 'Another name', tosUri: 'https://app.example/tos' }, 9), {
    ...client,
    name: 'Another name',
    tosUri: 'https://app.example/tos',
    revision: 5,
    updatedAt: 9,
  })
  assert.deepEqual(client, before)
})
