// The cookies of our pages: one for a session, one for a visitor who has none yet; and those at sites.

import { ownCookies } from '../../http1/fields/own-cookies.ts'

/** Names without the prefix that https adds. */
type CookieName = (typeof ownCookies)['session' | 'visit' | 'site' | 'way']

/** The cookies of a request; null for one that is missing, duplicate or not of our making. */
type OwnCookies = Readonly<Record<CookieName, string | null>>

/** Reads our cookies (RFC 6265 section 4.2.1). A duplicate counts as missing: it may be planted. */
export function readCookies(field: string | undefined, isSecure: boolean): OwnCookies {
  const values = new Map<string, string | null>()
  for (const pair of field?.split(/;[ \t]*/) ?? []) {
    const [, name, value] = /^([^=]+)=(.*)$/.exec(pair) ?? []
    if (name === undefined) continue
    values.set(name, values.has(name) || !isSecret(value!) ? null : value!)
  }
  const cookieOf = (name: CookieName) => values.get(fullName(name, isSecure)) ?? null
  const { session, visit, site, way } = ownCookies
  return {
    [session]: cookieOf(session),
    [visit]: cookieOf(visit),
    [site]: cookieOf(site),
    [way]: cookieOf(way),
  }
}

export function writeCookie(name: CookieName, value: string, isSecure: boolean): string {
  if (!isSecret(value))
    throw new TypeError('the value of a cookie must be 32 bytes in base64url, with or without a tag')
  return `${fullName(name, isSecure)}=${value}; ${attributes(isSecure)}`
}

export function endCookie(name: CookieName, isSecure: boolean): string {
  return `${fullName(name, isSecure)}=; ${attributes(isSecure)}; Max-Age=0`
}

// With the prefix, browsers accept it from this host alone, over https alone (RFC 6265bis section 4.1.3.2).
function fullName(name: CookieName, isSecure: boolean): string {
  return isSecure ? `__Host-${name}` : name
}

function attributes(isSecure: boolean): string {
  return `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

/** 32 bytes, and a tag of a session at a site. */
function isSecret(value: string): boolean {
  return /^[\w-]{43}(?:[\w-]{11})?$/.test(value)
}
