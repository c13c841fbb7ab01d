// After NTLM or Negotiate, a server attributes every further request on the connection to the same user (RFC
// 4559 section 6, MS-NTHT, MS-N2HT).

import { type FieldLines, field } from './fields.ts'

/**
 * Recognised by the beginning of its name: NTLM, Negotiate and Nego2 (also with the mechanism, as in
 * `Negotiate:Kerberos`), Kerberos, other names of GSS-API, CredSSP of WinRM, PKU2U; or any scheme with an
 * NTLM message.
 */
const scheme = /(?:^|,)[ \t]*(?:ntlm|nego|kerb|spnego|gss|credssp|pku2u|[!-+\--~]+[ \t]+TlRMTVNTU)/i
const schemeWithToken =
  /(?:^|,)[ \t]*(?:(?:ntlm|nego|kerb|spnego|gss|credssp|pku2u)[!-+\--~]*[ \t]+[\w+/-]|[!-+\--~]+[ \t]+TlRMTVNTU)/i

type Lines = Pick<FieldLines, 'fields' | 'ids'>

export function hasConnectionScheme(value: string): boolean {
  return scheme.test(value)
}

export function authenticatesConnection({ fields, ids }: Lines): boolean {
  for (let i = ids.indexOf(field.authorization); i !== -1; i = ids.indexOf(field.authorization, i + 1))
    if (mayHaveConnectionScheme(fields[2 * i + 1]!) && hasConnectionScheme(fields[2 * i + 1]!)) return true
  return false
}

/** Whether a response asks for another message of a handshake, on the same connection. */
export function continuesHandshake({ fields, ids }: Lines): boolean {
  return ids.some((id, i) => id === field.wwwAuthenticate && schemeWithToken.test(fields[2 * i + 1]!))
}

/** Quickly excludes Basic and Bearer, which most requests have. */
function mayHaveConnectionScheme(value: string): boolean {
  return (value.charCodeAt(0) | 0x20) !== b || value.includes(',')
}

const b = 0x62
