// Access tokens of OAuth (RFC 6749 section 5) as keys.

import { KeyFailure, type KeyResponse, membersOf } from './key-call.ts'
import type { Minted } from './made-key.ts'

export const formType = { 'content-type': 'application/x-www-form-urlencoded' }

export function form(members: Readonly<Record<string, string>>): string {
  return new URLSearchParams(members).toString()
}

/** Throws a `KeyFailure` if there is no usable token. */
export function tokenIn(response: KeyResponse, now: number): Minted {
  const { access_token: value, expires_in, expires_on } = membersOf(response)
  const { host } = response
  if (typeof value !== 'string' || !/^[!-~]{1,16384}$/.test(value))
    throw new KeyFailure(`${host} responded without an access_token`)
  // Managed identities of Azure have numbers in strings, and some of them only the moment.
  const seconds = Number(expires_in ?? Number(expires_on) - now / 1000)
  if (!(seconds > 0 && seconds < 1e8)) throw new KeyFailure(`${host} responded with an expired token`)
  return { value, lifetime: seconds * 1000 }
}
