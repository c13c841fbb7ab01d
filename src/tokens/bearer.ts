// Extracts the token from a header field such as Authorization.

import { isOws, withoutOws } from '../base/text/ows.ts'

const scheme = 'bearer'

/** Returns what follows `Bearer` (RFC 6750 section 2.1), in any case. */
export function bearerOf(field: string | null): string | null {
  if (field === null || !isOws(field.charCodeAt(scheme.length))) return null
  if (field.slice(0, scheme.length).toLowerCase() !== scheme) return null
  const token = withoutOws(field.slice(scheme.length))
  return token === '' ? null : token
}

/** Likewise, if it is a token68 (RFC 9110 section 11.2): parsers differ on all else. */
export function token68Of(field: string): string | null {
  const token = bearerOf(field)
  return token !== null && isToken68.test(token) ? token : null
}

const isToken68 = /^[\w\-.~+/]+=*$/
