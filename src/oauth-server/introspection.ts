// What an API token finds out about a token of OAuth (RFC 7662). Clients, which see their own tokens alone, ask the engine.

import { permits } from '../permissions/permit.ts'
import type { Credential } from '../store/records/credential.ts'
import type { Token } from '../store/records/records.ts'
import type { Store } from '../store/contract/store.ts'
import { endDigestOf, familyOf } from '../oauth-grants/family.ts'
import { digestOf, isWellFormed } from '../tokens/token.ts'
import type { ClientDirectory } from './client-directory.ts'
import { faultOfStanding } from './standing.ts'

interface IntrospectionParts {
  readonly store: Store
  readonly clients: ClientDirectory
  readonly issuer: string
}

/** What is not good, and what the caller may not see. */
const inactive = { active: false } as const

/** Describes a token to a caller who may read the OAuth clients of the account that owns its client; rejects with `StoreUnreachable`. */
export async function introspect(
  value: string,
  caller: Token,
  { store, clients, issuer }: IntrospectionParts,
): Promise<object> {
  const credential = await find(value, store)
  if (credential === null || credential.client === null || credential.user === null) return inactive
  const client = await clients.find(credential.client)
  if (client === null || !permits(caller, 'OAuth Clients Read', client.account)) return inactive
  const { account, scope, aud, resource } = credential.data as {
    readonly account: string
    readonly scope?: string
    readonly aud?: string | readonly string[]
    /** What a refresh token gives access tokens for. */
    readonly resource?: string | readonly string[]
  }
  const audience = aud ?? resource ?? []
  const family = familyOf(credential)
  if (credential.grant === null || family === null) return inactive
  const [grant, hasEnded] = await Promise.all([
    store.oauthGrants.get(account, credential.grant),
    store.credentials.hasEnded(endDigestOf(family)),
  ])
  if (grant === null || hasEnded) return inactive
  if ((await faultOfStanding(store, { client, user: credential.user, account })) !== null) return inactive
  const left = (scope ?? '')
    .split(' ')
    .filter(one => grant.record.scopes.includes(one) && client.scopes.includes(one))
  return {
    active: true,
    iss: issuer,
    client_id: client.id,
    sub: credential.user,
    scope: left.join(' '),
    ...(audience.length > 0 && { aud: audience }),
    ...(credential.kind === 'access_token' && { token_type: 'Bearer' }),
    iat: Math.floor(credential.createdAt / 1000),
    exp: Math.floor(credential.expiresAt / 1000),
  }
}

async function find(value: string, { credentials }: Store): Promise<Credential | null> {
  if (isWellFormed(value, 'svco_')) return credentials.get('access_token', digestOf(value))
  if (!isWellFormed(value, 'svcr_')) return null
  const kept = await credentials.get('refresh_token', digestOf(value))
  return kept?.consumedAt === null ? kept : null
}
