// What a request to sign out asks for, and where it leads (OpenID Connect RP-Initiated Logout 1.0).

import { createPublicKey, verify } from 'node:crypto'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { ClientDirectory } from '../../oauth/clients/client-directory.ts'
import type { Jwk } from '../../tokens/signing-keys.ts'

/** `fault`: the request is malformed; the description is a sentence. */
type LogoutRequest =
  | { readonly kind: 'fault'; readonly description: string }
  | {
      readonly kind: 'good'
      readonly client: OAuthClient | null
      readonly user: string | null
      /** Where the browser goes afterwards; null for nowhere. */
      readonly location: string | null
    }

interface LogoutParts {
  readonly issuer: string
  readonly clients: ClientDirectory
  readonly keys: readonly Jwk[]
}

export async function readLogout(params: URLSearchParams, parts: LogoutParts): Promise<LogoutRequest> {
  const repeated = names.find(name => params.getAll(name).length > 1)
  if (repeated !== undefined) return fault(`${repeated} must not be sent twice`)
  const hint = params.get('id_token_hint')
  const idToken = hint === null ? null : readIdToken(hint, parts)
  if (hint !== null && idToken === null)
    return fault('id_token_hint is not an ID token issued by this server')
  const named = params.get('client_id')
  if (idToken !== null && named !== null && named !== idToken.client)
    return fault('client_id is not that of the id_token_hint')
  const id = named ?? idToken?.client ?? null
  const client = id === null ? null : await parts.clients.find(id)
  if (id !== null && client === null) return fault('no client has this client_id')
  const uri = params.get('post_logout_redirect_uri')
  if (uri === null) return { kind: 'good', client, user: idToken?.user ?? null, location: null }
  if (client === null) return fault('post_logout_redirect_uri needs a client_id or an id_token_hint')
  if (!client.postLogoutRedirectUris.includes(uri))
    return fault('post_logout_redirect_uri is not registered for this client')
  const location = new URL(uri)
  const state = params.get('state')
  if (state !== null) location.searchParams.set('state', state)
  return { kind: 'good', client, user: idToken?.user ?? null, location: location.href }
}

const names = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state']

function fault(description: string): LogoutRequest {
  return { kind: 'fault', description }
}

/** Reads an ID token that this server signed, even if it has expired; null for anything else. */
function readIdToken(token: string, { issuer, keys }: LogoutParts): { client: string; user: string } | null {
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
