// Signing out on behalf of an app (OpenID Connect RP-Initiated Logout 1.0): what a request asks for, and
// where it leads.

import { createPublicKey, verify } from 'node:crypto'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { ClientDirectory } from '../../oauth/clients/client-directory.ts'
import type { Jwk } from '../credentials/signing-keys.ts'

/** What a request to sign out amounts to. `fault`: it is malformed, in a sentence. */
type LogoutRequest =
  | { readonly kind: 'fault'; readonly description: string }
  | {
      readonly kind: 'good'
      /** The app that asks, as far as it says so. */
      readonly client: OAuthClient | null
      /** The user whose ID token was shown; null where none was. */
      readonly user: string | null
      /** Where the browser goes afterwards; null for nowhere. */
      readonly location: string | null
    }

interface LogoutParts {
  readonly issuer: string
  readonly clients: ClientDirectory
  readonly keys: readonly Jwk[]
}

/** Reads a request to sign out; rejects with `StoreUnreachable`. */
export async function readLogout(params: URLSearchParams, parts: LogoutParts): Promise<LogoutRequest> {
  const repeated = names.find(name => params.getAll(name).length > 1)
  if (repeated !== undefined) return fault(`${repeated} must not be sent twice`)
  const hint = params.get('id_token_hint')
  const told = hint === null ? null : readHint(hint, parts)
  if (hint !== null && told === null) return fault('id_token_hint is not an ID token issued by this server')
  const named = params.get('client_id')
  if (told !== null && named !== null && named !== told.client)
    return fault('client_id is not that of the id_token_hint')
  const id = named ?? told?.client ?? null
  const client = id === null ? null : await parts.clients.find(id)
  if (id !== null && client === null) return fault('no client has this client_id')
  const uri = params.get('post_logout_redirect_uri')
  if (uri === null) return { kind: 'good', client, user: told?.user ?? null, location: null }
  if (client === null) return fault('post_logout_redirect_uri needs a client_id or an id_token_hint')
  if (!client.postLogoutRedirectUris.includes(uri))
    return fault('post_logout_redirect_uri is not registered for this client')
  const location = new URL(uri)
  const state = params.get('state')
  if (state !== null) location.searchParams.set('state', state)
  return { kind: 'good', client, user: told?.user ?? null, location: location.href }
}

const names = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state']

function fault(description: string): LogoutRequest {
  return { kind: 'fault', description }
}

/** Reads an ID token that this server signed, expired or not; null for anything else. */
function readHint(token: string, { issuer, keys }: LogoutParts): { client: string; user: string } | null {
  const [head = '', body = '', signature = '', ...rest] = token.split('.')
  if (rest.length > 0) return null
  const { kid } = readPart(head)
  const jwk = keys.find(key => key.kid === kid)
  if (jwk === undefined) return null
  const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
  const signed = Buffer.from(`${head}.${body}`)
  const isSigned = verify(
    'sha256',
    signed,
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  const { iss, aud, sub } = readPart(body)
  if (!isSigned || iss !== issuer || typeof aud !== 'string' || typeof sub !== 'string') return null
  return { client: aud, user: sub }
}

function readPart(part: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
