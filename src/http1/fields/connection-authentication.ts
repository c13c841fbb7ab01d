// Authentication that applies to a connection rather than a request: after NTLM or Negotiate has succeeded,
// the server attributes every further request on the connection to the same user, without any credentials
// (RFC 4559 section 6, MS-NTHT, MS-N2HT).

import { type FieldLines, field } from './fields.ts'

/**
 * An element of a list with such a scheme, recognised by the beginning of its name: NTLM, Negotiate and Nego2
 * (also with the mechanism, as in `Negotiate:Kerberos`), Kerberos, other names of GSS-API, CredSSP of WinRM,
 * PKU2U. Or one with an NTLM message, whatever its scheme is called.
 */
const scheme = /(?:^|,)[ \t]*(?:ntlm|nego|kerb|spnego|gss|credssp|pku2u|[!-+\--~]+[ \t]+TlRMTVNTU)/i
/** The same with a token. */
const schemeWithToken =
  /(?:^|,)[ \t]*(?:(?:ntlm|nego|kerb|spnego|gss|credssp|pku2u)[!-+\--~]*[ \t]+[\w+/-]|[!-+\--~]+[ \t]+TlRMTVNTU)/i

type Lines = Pick<FieldLines, 'fields' | 'ids'>

/** Whether a list of challenges, or credentials, has a scheme that authenticates the connection. */
export function hasConnectionScheme(value: string): boolean {
  return scheme.test(value)
}

/** Whether a request has credentials that authenticate its connection. */
export function authenticatesConnection({ fields, ids }: Lines): boolean {
  for (let i = ids.indexOf(field.authorization); i !== -1; i = ids.indexOf(field.authorization, i + 1))
    if (mayHaveConnectionScheme(fields[2 * i + 1]!) && hasConnectionScheme(fields[2 * i + 1]!)) return true
  return false
}

/** Whether a response asks for another message of a handshake, which must come on the same connection. */
export function continuesHandshake({ fields, ids }: Lines): boolean {
  return ids.some((id, i) => id === field.wwwAuthenticate && schemeWithToken.test(fields[2 * i + 1]!))
}

/**
 * A quick check that excludes Basic and Bearer, which most requests have: they begin otherwise, and are not
 * lists.
 */
function mayHaveConnectionScheme(value: string): boolean {
  return (value.charCodeAt(0) | 0x20) !== b || value.includes(',')
}

const b = 0x62
