// What a client learns that may not pass: the value of WWW-Authenticate (RFC 6750 section 3).

type BearerError = 'invalid_token' | 'insufficient_scope'

/** Without an error for a request that brought no token at all. */
export function bearerChallenge(error: BearerError | null): string {
  return error === null ? 'Bearer' : `Bearer error="${error}"`
}
