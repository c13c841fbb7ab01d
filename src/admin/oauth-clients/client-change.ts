// Applies a PATCH to an OAuth client, with its effects on secrets, verification and visibility.

import type { OAuthScope } from '../../permissions/scopes.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import { fault, faultAt } from '../../errors/catalogue/api-faults.ts'
import { revised } from '../../oauth/clients/client.ts'
import { mintSecret } from '../../oauth/clients/secret.ts'
import { missingForPublic } from '../../oauth/clients/publication.ts'
import { verificationFor } from '../../domains/challenge.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import type { ClientSecret, OAuthClient } from '../../store/records/oauth-client.ts'
import { type ClientChange, readClientChange } from './body.ts'

export interface ChangedClient {
  readonly client: OAuthClient
  readonly secret: string | null
}

/** Applies a body to a client; returns the same client if nothing changes, or all mistakes in the body. */
export function changeClient(
  current: OAuthClient,
  body: unknown,
  keys: SecretKeys,
  now: number,
  scopes: readonly OAuthScope[],
): ChangedClient | readonly Fault[] {
  const change = readClientChange(body, current, scopes)
  const { settings, setsClientUri } = change
  const proof = setsClientUri
    ? verificationFor(current.verification, settings.clientUri, now)
    : current.verification
  const isFrozen = proof === 'host_frozen'
  const verification = isFrozen ? current.verification : proof
  const visibility = change.visibility ?? current.visibility
  const desired = { ...current, ...settings, verification, visibility }
  const faults = [
    ...change.faults,
    ...(isFrozen ? [fault('host_verified')] : []),
    ...settledFaults(current, desired),
  ]
  faults.push(...missingFaults(current, desired, faults, scopes))
  if (faults.length > 0) return faults
  const { secrets, secret } = secretsFor(current, change, keys, now)
  const client = { ...desired, secrets }
  if (isSame(current, client)) return { client: current, secret: null }
  const isPromoted = visibility !== current.visibility
  return { client: revised(client, isPromoted ? { promotedAt: now } : {}, now), secret }
}

/** A client that starts to authenticate gets a secret; one that stops has none any more. */
function secretsFor(
  current: OAuthClient,
  { settings }: ClientChange,
  keys: SecretKeys,
  now: number,
): { readonly secrets: readonly ClientSecret[]; readonly secret: string | null } {
  if (settings.tokenEndpointAuthMethod === 'none') return { secrets: [], secret: null }
  if (current.tokenEndpointAuthMethod !== 'none') return { secrets: current.secrets, secret: null }
  const { value, secret } = mintSecret(keys, now)
  return { secrets: [secret], secret: value }
}

/** Publishing is irreversible, and a public client must keep a client_uri. */
function settledFaults(current: OAuthClient, { visibility, clientUri }: OAuthClient): readonly Fault[] {
  if (current.visibility === 'private') return []
  return [
    ...(visibility === 'private' ? [fault('public_for_ever')] : []),
    ...(clientUri === null ? [fault('uri_for_ever')] : []),
  ]
}

/** What a public client needs, and this one lacks. Members that have a fault already are not judged. */
function missingFaults(
  current: OAuthClient,
  desired: OAuthClient,
  faults: readonly Fault[],
  scopes: readonly OAuthScope[],
): readonly Fault[] {
  const isPublic = current.visibility === 'public'
  if (!isPublic && desired.visibility === 'private') return []
  const refused = new Set(faults.map(({ pointer }) => pointer?.split('/')[1]))
  return missingForPublic(desired, scopes)
    .filter(({ member }) => !refused.has(member))
    .map(({ member, sentence }) =>
      faultAt(isPublic ? `/${member}` : '/visibility', 'not_ready_for_public', sentence),
    )
}

function isSame(current: OAuthClient, client: OAuthClient): boolean {
  return JSON.stringify(current) === JSON.stringify({ ...current, ...client })
}
