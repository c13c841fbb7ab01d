// Counts of sign-ins, and of apps that act for people.

import { tallies } from './distribution.ts'

const grantTypes = ['authorization_code', 'refresh_token', 'other'] as const

/** The errors of RFC 6749, RFC 8707 and OpenID Connect that the endpoints respond with. */
const errors = [
  'access_denied',
  'consent_required',
  'invalid_client',
  'invalid_grant',
  'invalid_redirect_uri',
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'login_required',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
  'throttled',
  'other',
] as const

type OAuthError = (typeof errors)[number]

export class PeopleMetrics {
  /** By proof: password, passkey, code, either again, OpenID provider, or link. */
  readonly signIns = {
    password: tallies(['signed_in', 'needs_code', 'refused', 'throttled', 'busy']),
    passkey: tallies(['signed_in', 'refused', 'throttled', 'expired', 'old_counter']),
    code: tallies(['signed_in', 'refused', 'throttled', 'busy', 'expired', 'unreadable', 'old_counter']),
    confirm: tallies(['signed_in', 'refused', 'throttled', 'busy', 'no_password', 'expired', 'old_counter']),
    provider: tallies([
      'signed_in',
      'needs_code',
      'refused',
      'throttled',
      'busy',
      'denied',
      'failed',
      'unreachable',
      'expired',
    ]),
    link: tallies(['signed_in', 'refused', 'throttled', 'busy', 'expired']),
  }
  readonly authorizations = tallies(['code', 'asked', ...errors])
  /** Documents of OAuth clients that were asked for and not cached, by what came of it. */
  readonly clientDocuments = tallies(['fetched', 'gone', 'invalid', 'unreachable', 'busy'])
  readonly tokens = {
    authorization_code: tallies(['issued', ...errors]),
    refresh_token: tallies(['issued', ...errors]),
    other: tallies(['issued', ...errors]),
  }

  signIn<Step extends keyof PeopleMetrics['signIns']>(
    step: Step,
    result: keyof PeopleMetrics['signIns'][Step],
  ): void {
    const { [step]: results } = this.signIns
    const tally = results[result] as { inc(): void }
    tally.inc()
  }

  /** Counts a response of the authorization endpoint: a code, a page that asks the person, or an error. */
  authorization(result: 'code' | 'asked' | { readonly error: string }): void {
    this.authorizations[typeof result === 'string' ? result : errorOf(result.error)].inc()
  }

  clientDocument(result: keyof PeopleMetrics['clientDocuments']): void {
    this.clientDocuments[result].inc()
  }

  /** Counts a response of the token endpoint to a `grant_type` as it was sent; null if tokens were issued. */
  token(grantType: unknown, error: string | null): void {
    const type = grantTypes.find(one => one === grantType) ?? 'other'
    this.tokens[type][error === null ? 'issued' : errorOf(error)].inc()
  }
}

function errorOf(error: string): OAuthError {
  return errors.find(one => one === error) ?? 'other'
}
