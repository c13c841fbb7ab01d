// Reads the token out of a header field such as Authorization. The edge and the guard of the admin listener ask it.

const scheme = 'bearer '

/** Gives what follows `Bearer` (RFC 6750 section 2.1; the scheme in any case, RFC 9110 section 11.1), or null where there are no such credentials. */
export function bearerOf(field: string | null): string | null {
  if (field === null || field.length <= scheme.length) return null
  if (field.slice(0, scheme.length).toLowerCase() !== scheme) return null
  const token = field.slice(scheme.length).trim()
  return token === '' ? null : token
}
