// Why a request failed, for the developer of the app: the library's sentences are short, or for its log.

import { hash } from 'node:crypto'
import { isDocumentUrl } from '../../oauth/clients/document-url.ts'
import type { Credential } from '../../store/records/credential.ts'
import type { OidcError } from './library.ts'
import { visible } from './scopes.ts'

/** The reason for an error of OAuth that our rules found; it is the `cause` of the error. */
export class Reason extends Error {}

interface Circumstances {
  readonly presented: Credential | null
  /** The id of the client; null while it is unknown. */
  readonly client: string | null
  readonly params: Readonly<Record<string, unknown>>
  readonly authorization: string | undefined
}

/** Errors that the library describes with the same words whatever is wrong; its detail says more. */
const withDetail: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_client', 'invalid_token'])

export function reasonOf(failure: OidcError, circumstances: Circumstances): string {
  if (failure.cause instanceof Reason) return failure.cause.message
  const { error, error_detail: detail = '', error_description: description = '' } = failure
  const words = withDetail.has(error) ? detail || description : description || detail
  return explanationOf(error, circumstances) ?? (words || error)
}

/** Explains an error by the circumstances; null if they do not show what is wrong. */
function explanationOf(error: string, circumstances: Circumstances): string | null {
  const { params, client, presented, authorization } = circumstances
  switch (error) {
    case 'invalid_grant':
      return params.grant_type === 'refresh_token'
        ? faultOfRefreshToken(circumstances)
        : faultOfCode(circumstances)
    case 'invalid_client':
      return client === null ? reasonOfUnknown(params.client_id) : null
    case 'invalid_token':
      if (presented !== null) return faultOfAudience(presented)
      return authorization === undefined && params.access_token === undefined
        ? 'the Authorization field with the access token is missing'
        : 'the access token is unknown: it was revoked, or has expired'
    case 'unsupported_response_type':
      return `response_type sent: ${valueText(params.response_type)}; supported: code`
    case 'unsupported_grant_type':
      return `grant_type sent: ${valueText(params.grant_type)}; supported: authorization_code, refresh_token`
    case 'invalid_redirect_uri':
      return `redirect_uri sent: ${valueText(params.redirect_uri)}`
    case 'request_not_supported':
      return 'the parameter request is not supported: send the parameters themselves'
    case 'request_uri_not_supported':
      return 'the parameter request_uri is not supported: send the parameters themselves'
    default:
      return null
  }
}

/** Where documents are on, one that makes no client has a reason of its own. */
function reasonOfUnknown(id: unknown): string {
  const isDocument = typeof id === 'string' && isDocumentUrl(id)
  const reason = 'no client has this client_id'
  return isDocument ? `${reason}: this server takes no documents of clients` : reason
}

function faultOfRefreshToken({ presented, client }: Circumstances): string | null {
  if (presented === null)
    return 'the refresh token is unknown: it was revoked, has expired, or was cut off on the way'
  if (presented.client !== client) return 'it was issued to another client'
  return hasExpired(presented) ? 'the refresh token has expired' : null
}

/** Looks at a code as the library does, in the same order. */
function faultOfCode({ presented, client, params }: Circumstances): string | null {
  if (presented === null)
    return 'the code is unknown: it was issued more than a minute ago, or not here, or cut off on the way'
  if (presented.client !== client) return 'it was issued to another client'
  if (hasExpired(presented)) return 'the code has expired'
  const { codeChallenge: challenge, redirectUri } = presented.data as {
    readonly codeChallenge?: string
    readonly redirectUri?: string
  }
  const { code_verifier: verifier } = params
  if (challenge !== undefined && verifier === undefined)
    return 'the code_verifier is missing: the authorization request had a code_challenge'
  if (challenge === undefined && verifier !== undefined)
    return 'a code_verifier was sent, but the authorization request had no code_challenge'
  if (typeof verifier === 'string' && hash('sha256', verifier, 'base64url') !== challenge)
    return 'the PKCE code_verifier does not match the code_challenge'
  if (redirectUri === params.redirect_uri) return null
  return `redirect_uri sent: ${valueText(params.redirect_uri)}; in the authorization request: ${redirectUri ?? 'none'}`
}

function faultOfAudience({ data }: Credential): string | null {
  const { aud } = data as { readonly aud?: unknown }
  return aud === undefined
    ? null
    : 'the access token was issued for a resource, so it is not good at the userinfo endpoint'
}

function hasExpired({ expiresAt }: Credential): boolean {
  return expiresAt <= Date.now()
}

const maxShown = 200

export function valueText(value: unknown): string {
  if (value === undefined || value === '') return 'none'
  return typeof value === 'string' ? visible(value.slice(0, maxShown)) : 'several'
}
