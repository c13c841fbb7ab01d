// Why a request failed, in sentences for whoever builds the app: what the engine says is short, or only for its own log.

import { visible } from './request-rules.ts'

/** What the engine says of an error. */
export interface EngineFailure {
  readonly error?: string
  readonly error_description?: string
  readonly error_detail?: string
  readonly statusCode?: number
}

/** What is known of the request beside. */
interface Circumstances {
  /** The reason that was found by our own rules; it goes before all others. */
  readonly reason: string | null
  /** The URI that the code was sent to, where one was exchanged. */
  readonly codeRedirectUri: string | null
  readonly params: Readonly<Record<string, unknown>>
}

/** Returns why a request failed; never empty. */
export function reasonOf(failure: EngineFailure, { reason, codeRedirectUri, params }: Circumstances): string {
  if (reason !== null) return reason
  const { error = '', error_detail: detail = '', error_description: description = '' } = failure
  if (detail === 'authorization code redirect_uri mismatch')
    return `redirect_uri sent: ${shown(params.redirect_uri)}; in the authorization request: ${codeRedirectUri ?? 'none'}`
  return byDetail[detail] ?? byError(error, params) ?? (description || detail || error)
}

const byDetail: Readonly<Record<string, string>> = {
  'authorization code not found':
    'the code is unknown: it was issued more than a minute ago, or not here, or cut off on the way',
  'authorization code is expired': 'the code has expired',
  'client mismatch': 'it was issued to another client',
  'client not found': 'no client has this client_id',
  'code_verifier does not match code_challenge': 'the PKCE code_verifier does not match the code_challenge',
  'code_verifier must be provided':
    'the code_verifier is missing: the authorization request had a code_challenge',
  'unsupported code_challenge_method':
    'a code_verifier was sent, but the authorization request had no code_challenge',
  'refresh token not found':
    'the refresh token is unknown: it was revoked, has expired, or was cut off on the way',
  'refresh token is expired': 'the refresh token has expired',
  'access token not found': 'the access token is unknown: it was revoked, or has expired',
  'no access token provided': 'the Authorization field with the access token is missing',
  'token audience prevents accessing the userinfo endpoint':
    'the access token was issued for a resource, so it is not good at the userinfo endpoint',
}

function byError(error: string, params: Circumstances['params']): string | null {
  switch (error) {
    case 'unsupported_response_type':
      return `response_type sent: ${shown(params.response_type)}; supported: code`
    case 'unsupported_grant_type':
      return `grant_type sent: ${shown(params.grant_type)}; supported: authorization_code, refresh_token`
    case 'invalid_redirect_uri':
      return `redirect_uri sent: ${shown(params.redirect_uri)}`
    case 'request_not_supported':
      return 'the parameter request is not supported: send the parameters themselves'
    case 'request_uri_not_supported':
      return 'the parameter request_uri is not supported: send the parameters themselves'
    default:
      return null
  }
}

const longestShown = 200

/** Writes a value of a parameter so that it can stand in a message. */
export function shown(value: unknown): string {
  if (value === undefined || value === '') return 'none'
  return typeof value === 'string' ? visible(value.slice(0, longestShown)) : 'several'
}
