// Clients for the tests of this folder; what a test says of one replaces members.

import { newClient } from '../../../src/oauth/clients/client.ts'
import { mintSecret } from '../../../src/oauth/clients/secret.ts'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import type {
  ClientSecret,
  DomainVerification,
  OAuthClient,
} from '../../../src/store/records/oauth-client.ts'

export const account = 'a'.repeat(32)
export const birth = Date.UTC(2026, 0, 1)
export const keys = new SecretKeys(Buffer.alloc(32, 'key'))

export const mint = (now = birth): ClientSecret => mintSecret(keys, now).secret

/** A private client with one secret and nothing that is optional. */
export function clientWith(more: Partial<OAuthClient> = {}): OAuthClient {
  const settings = {
    name: 'A client',
    grantTypes: ['authorization_code'],
    responseTypes: ['code'],
    tokenEndpointAuthMethod: 'client_secret_basic',
    redirectUris: ['https://app.example/cb'],
    postLogoutRedirectUris: [],
    allowedCorsOrigins: [],
    scopes: ['ai_gateway.run'],
    optionalScopes: [],
    logoUri: null,
    policyUri: null,
    tosUri: null,
    clientUri: null,
  } as const
  const client = newClient(account, settings, { secret: mint(), verification: null, now: birth })
  return { ...client, ...more }
}

export function verificationWith(more: Partial<DomainVerification> = {}): DomainVerification {
  return {
    host: 'app.example',
    code: 'c'.repeat(32),
    status: 'pending',
    startedAt: birth,
    deadline: birth + 2 * 86_400_000,
    nextCheckAt: birth,
    checks: 0,
    lastAnswer: null,
    verifiedAt: null,
    ...more,
  }
}
