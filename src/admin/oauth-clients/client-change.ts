// What a PATCH makes of an OAuth client: its settings, and what follows for its secrets, its verification and its visibility.

import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import { fault, faultAt } from '../../errors/catalogue/api-faults.ts'
import { revised } from '../../oauth/clients/client.ts'
import { mintSecret } from '../../oauth/clients/secret.ts'
import { missingForPublic } from '../../oauth/clients/publication.ts'
import { verificationFor } from '../../domains/challenge.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import type { ClientSecret, OAuthClient } from '../../store/records/oauth-client.ts'
import { type ClientChange, readClientChange } from './body.ts'

/** A client as it is to be, and the value of a secret that it got with it. */
export interface ChangedClient {
  readonly client: OAuthClient
  readonly secret: string | null
}

/** Returns what a body makes of a client, the same one where nothing changes, or all mistakes in it. */
export function changeClient(
  kept: OAuthClient,
  body: unknown,
  keys: SecretKeys,
  now: number,
): ChangedClient | readonly Fault[] {
  const change = readClientChange(body, kept)
  const { settings, setsClientUri } = change
  const proof = setsClientUri
    ? verificationFor(kept.verification, settings.clientUri, now)
    : kept.verification
  const isFrozen = proof === 'host_frozen'
  const verification = isFrozen ? kept.verification : proof
  const visibility = change.visibility ?? kept.visibility
  const wanted = { ...kept, ...settings, verification, visibility }
  const faults = [
    ...change.faults,
    ...(isFrozen ? [fault('host_verified')] : []),
    ...settledFaults(kept, wanted),
  ]
  faults.push(...missingFaults(kept, wanted, faults))
  if (faults.length > 0) return faults
  const { secrets, secret } = secretsFor(kept, change, keys, now)
  const client = { ...wanted, secrets }
  if (isSame(kept, client)) return { client: kept, secret: null }
  const isPromoted = visibility !== kept.visibility
  return { client: revised(client, isPromoted ? { promotedAt: now } : {}, now), secret }
}

/** A client that begins to authenticate gets a secret; one that ceases to has none any more. */
function secretsFor(
  kept: OAuthClient,
  { settings }: ClientChange,
  keys: SecretKeys,
  now: number,
): { readonly secrets: readonly ClientSecret[]; readonly secret: string | null } {
  if (settings.tokenEndpointAuthMethod === 'none') return { secrets: [], secret: null }
  if (kept.tokenEndpointAuthMethod !== 'none') return { secrets: kept.secrets, secret: null }
  const { value, secret } = mintSecret(keys, now)
  return { secrets: [secret], secret: value }
}

/** Publishing is irreversible, and a public client must keep a client_uri. */
function settledFaults(kept: OAuthClient, { visibility, clientUri }: OAuthClient): readonly Fault[] {
  if (kept.visibility === 'private') return []
  return [
    ...(visibility === 'private' ? [fault('public_for_ever')] : []),
    ...(clientUri === null ? [fault('uri_for_ever')] : []),
  ]
}

/** What a public client needs, and this one has not. Of a member that has a fault already it can't be judged. */
function missingFaults(kept: OAuthClient, wanted: OAuthClient, told: readonly Fault[]): readonly Fault[] {
  const isPublic = kept.visibility === 'public'
  if (!isPublic && wanted.visibility === 'private') return []
  const refused = new Set(told.map(({ pointer }) => pointer?.split('/')[1]))
  return missingForPublic(wanted)
    .filter(({ member }) => !refused.has(member))
    .map(({ member, sentence }) =>
      faultAt(isPublic ? `/${member}` : '/visibility', 'not_ready_for_public', sentence),
    )
}

function isSame(kept: OAuthClient, client: OAuthClient): boolean {
  return JSON.stringify(kept) === JSON.stringify({ ...kept, ...client })
}
