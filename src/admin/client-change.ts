// What a PATCH makes of an OAuth client: its settings, and what follows for its secrets, its verification and its visibility. Called by clients.ts.

import { revised } from '../clients/client.ts'
import { mintSecret } from '../clients/secret.ts'
import type { SecretKeys } from '../clients/secret-keys.ts'
import { missingForPublic } from '../clients/visibility.ts'
import { verificationFor } from '../domains/challenge.ts'
import type { Fault } from '../errors/refusal.ts'
import type { ClientSecret, DomainVerification, OAuthClient } from '../store/records.ts'
import { type ClientChange, readClientChange } from './client-body.ts'

/** A client as it is to be, and the value of a secret that it got with it. */
export interface ChangedClient {
  readonly client: OAuthClient
  readonly secret: string | null
}

/** Gives what a body makes of a client, the same one where nothing changes, or all that is wrong with it. */
export function changeClient(
  kept: OAuthClient,
  body: unknown,
  keys: SecretKeys,
  now: number,
): ChangedClient | readonly Fault[] {
  const change = readClientChange(body, kept)
  if (!('settings' in change)) return change
  const verification = verificationOf(kept, change, now)
  if (verification === 'host_frozen') return [frozen]
  const { secrets, secret } = secretsFor(kept, change, keys, now)
  const visibility = change.visibility ?? kept.visibility
  const client = { ...kept, ...change.settings, verification, secrets, visibility }
  const faults = visibilityFaults(kept, client)
  if (faults.length > 0) return faults
  if (isSame(kept, client)) return { client: kept, secret: null }
  const isPromoted = visibility !== kept.visibility
  return { client: revised(client, isPromoted ? { promotedAt: now } : {}, now), secret }
}

function verificationOf(
  { verification }: OAuthClient,
  { settings, setsClientUri }: ClientChange,
  now: number,
): DomainVerification | null | 'host_frozen' {
  return setsClientUri ? verificationFor(verification, settings.clientUri, now) : verification
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

/** Public is for ever, and needs the same for ever. */
function visibilityFaults(kept: OAuthClient, client: OAuthClient): readonly Fault[] {
  if (kept.visibility === 'public') {
    if (client.visibility === 'private') return [forEver]
    if (client.clientUri === null) return [stillPublic]
  }
  if (client.visibility === 'private') return []
  return missingForPublic(client).map(({ member, sentence }) => ({
    code: 10412,
    message: sentence,
    pointer: kept.visibility === 'private' ? '/visibility' : `/${member}`,
  }))
}

function isSame(kept: OAuthClient, client: OAuthClient): boolean {
  return JSON.stringify(kept) === JSON.stringify({ ...kept, ...client })
}

const frozen: Fault = {
  code: 10413,
  message: 'client_uri must stay at the host that is verified; its path may change',
  pointer: '/client_uri',
}
const forEver: Fault = {
  code: 10413,
  message: 'visibility can not go back to private: a public client stays public',
  pointer: '/visibility',
}
const stillPublic: Fault = {
  code: 10413,
  message: 'client_uri can not be removed from a public client',
  pointer: '/client_uri',
}
