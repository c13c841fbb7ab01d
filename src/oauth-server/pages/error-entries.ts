// The errors of OAuth that clients can get, with what each means and what to check.

export interface ErrorEntry {
  readonly error: string
  readonly title: string
  readonly meaning: string
  readonly checks: readonly string[]
}

const events =
  'The authorization events of the client name the exact reason: `GET /client/v4/accounts/{account_id}/oauth_clients/{client_id}/authorization_events`.'

export const errorEntries: readonly ErrorEntry[] = [
  {
    error: 'invalid_request',
    title: 'The request is malformed',
    meaning: 'A parameter is missing, has a value that is not allowed, or came twice.',
    checks: [
      '`error_description` names the parameter.',
      'Public clients must use PKCE: send `code_challenge` with `code_challenge_method=S256`.',
      'Send client authentication in one way only.',
    ],
  },
  {
    error: 'invalid_redirect_uri',
    title: 'The redirect URI is not registered',
    meaning:
      'The client has not registered this redirect URI, so nothing is sent there: not even this error, since anyone may have made the link.',
    checks: [
      'The URI must be registered letter for letter, with its slash at the end and its query.',
      'Only for `http://127.0.0.1` and `http://[::1]` may the port differ. `localhost` needs the exact port.',
      events,
    ],
  },
  {
    error: 'invalid_client',
    title: 'The client is unknown, or not authenticated',
    meaning:
      'No client has this `client_id`, or it did not authenticate with the method that it has registered and a secret that is valid.',
    checks: [
      'Use exactly the registered `token_endpoint_auth_method`: `client_secret_basic`, `client_secret_post`, or `none` without any secret.',
      'With `client_secret_basic`, encode id and secret as a form does (RFC 6749 section 2.3.1) before base64.',
      'After a rotation, both secrets are valid until the old one is deleted.',
      'After too many wrong secrets, the status is 429 for wrong ones; a right one is accepted all the while.',
      events,
    ],
  },
  {
    error: 'unauthorized_client',
    title: 'The client may not do this',
    meaning: 'The client has not registered the grant type that it uses.',
    checks: ['Add `refresh_token` to the `grant_types` of the client to use refresh tokens.'],
  },
  {
    error: 'unsupported_response_type',
    title: 'The response type is not supported',
    meaning: 'Only the authorization code flow is supported.',
    checks: ['Send `response_type=code`.'],
  },
  {
    error: 'unsupported_response_mode',
    title: 'The response mode is not supported',
    meaning: 'The response always goes into the query of the redirect URI.',
    checks: ['Leave out `response_mode`, or send `query`.'],
  },
  {
    error: 'invalid_scope',
    title: 'A scope is unknown or not registered',
    meaning: 'A scope that was asked for does not exist, or the client has not registered it.',
    checks: [
      '`error_description` names the scopes.',
      '`GET /oauth/scopes` lists all that exist. Change those of the client over the API.',
    ],
  },
  {
    error: 'invalid_target',
    title: 'The resource is unknown',
    meaning: '`resource` names no API of this server, or none that the person allowed.',
    checks: ['Use the `resource` of the metadata of the API, or leave it out for all APIs.'],
  },
  {
    error: 'login_required',
    title: 'The person has to sign in',
    meaning: '`prompt=none` was sent, and nobody is signed in.',
    checks: ['Send the person through the authorization endpoint without `prompt=none`.'],
  },
  {
    error: 'consent_required',
    title: 'The person has to consent',
    meaning: '`prompt=none` was sent, and the person has not allowed all that is asked for.',
    checks: ['Send the person through the authorization endpoint without `prompt=none`.'],
  },
  {
    error: 'account_selection_required',
    title: 'The person has to choose an account',
    meaning: '`prompt=none` was sent, and the person has allowed the app in several accounts.',
    checks: ['Send the person through the authorization endpoint without `prompt=none`.'],
  },
  {
    error: 'access_denied',
    title: 'The person did not allow it',
    meaning: 'The person chose to deny, or may not let this app in.',
    checks: ['A private client is only for members of the account that registered it.', events],
  },
  {
    error: 'invalid_grant',
    title: 'The code or refresh token is not valid',
    meaning:
      'It has expired, was used before, was issued to another client, or the person or an administrator has ended the access. Or the PKCE verifier or the redirect URI is another one than at the beginning.',
    checks: [
      'Exchange a code once, within its 60 seconds. Another use ends the tokens that came of it.',
      'Always keep the newest refresh token. The one before it is accepted for 30 more seconds, until the newest is used. Two programs that refresh at the same time need a lock.',
      'Otherwise send the person through the authorization endpoint again.',
      events,
    ],
  },
  {
    error: 'unsupported_grant_type',
    title: 'The grant type is not supported',
    meaning: 'Only `authorization_code` and `refresh_token` are supported.',
    checks: ['Apps act for people here. For a program of your own, use an API token.'],
  },
  {
    error: 'invalid_token',
    title: 'The access token is not valid',
    meaning: 'It has expired, was revoked, or was never issued here.',
    checks: ['Get another one with the refresh token.'],
  },
  {
    error: 'insufficient_scope',
    title: 'The access token lacks a scope',
    meaning: 'The person has not allowed what this request needs.',
    checks: [
      'Ask for the scope that is named, and send the person through the authorization endpoint again.',
    ],
  },
  {
    error: 'unsupported_token_type',
    title: 'This kind of token is not supported here',
    meaning: 'Only access and refresh tokens can be revoked and introspected, not ID tokens.',
    checks: ['Send an access token (`svco_…`) or a refresh token (`svcr_…`).'],
  },
  {
    error: 'request_not_supported',
    title: 'Request objects are not supported',
    meaning: 'The parameter `request` is not supported.',
    checks: ['Send the parameters themselves.'],
  },
  {
    error: 'request_uri_not_supported',
    title: 'Request objects are not supported',
    meaning: 'The parameter `request_uri` is not supported.',
    checks: ['Send the parameters themselves.'],
  },
  {
    error: 'registration_not_supported',
    title: 'Clients cannot register themselves',
    meaning: 'The parameter `registration` is not supported.',
    checks: ['Register the client over the API first.'],
  },
  {
    error: 'temporarily_unavailable',
    title: 'The server is unavailable',
    meaning:
      'The store of the server cannot be reached, takes no changes, or did not confirm one: `error_description` says which. Or more than 300 requests of one person, or of one address where nobody was signed in, began to wait for a decision within 10 minutes.',
    checks: ['Try again in a moment, or after the time that `error_description` names.'],
  },
  {
    error: 'server_error',
    title: 'The server failed',
    meaning: 'Something went wrong in the server. Its log says what.',
    checks: ['Give the ray id of the response to the operator of the server.'],
  },
]
