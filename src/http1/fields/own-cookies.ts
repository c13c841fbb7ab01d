// Browsers send a cookie to every port of a host (RFC 6265 section 8.5): an origin that shares a host name
// with our pages would receive people's sessions, and could plant its own.

import { isOws } from '../../base/text/ows.ts'

/**
 * Without the prefix added over https. Those of an interaction bind an authorization request to its browser;
 * those of a site are a session there, and what binds the way to it.
 */
export const ownCookies = {
  session: 'gatehouse',
  visit: 'gatehouse-visit',
  interaction: 'gatehouse_consent',
  resume: 'gatehouse_resume',
  site: 'gatehouse-site',
  way: 'gatehouse-way',
} as const

/** With each prefix of RFC 6265bis section 4.1.3, and without. */
const ownNames: ReadonlySet<string> = new Set(
  Object.values(ownCookies).flatMap(name => [name, `__Host-${name}`, `__Secure-${name}`]),
)

/** An attribute of the preceding cookie (RFC 2965 section 3.3.4). */
const attribute = /^[ \t]*\$(?:path|domain|port)[ \t]*(?:=|$)/i

/** What is before the first pair that is not blank. */
const leading = /^[ \t;,]+/

/** Part of each of our names, so that most values need no closer look. */
const mark = 'gatehouse'

/** A Cookie value without our cookies, the others byte for byte; null if none is left. */
export function withoutOwnCookies(value: string): string | null {
  const first = value.indexOf(mark)
  if (first === -1) return value
  const last = value.lastIndexOf(mark)
  const from = startOfPair(value, first)
  let others = value.slice(0, Math.max(0, from - 1)).replace(leading, '')
  let isBehindOwn = false
  let hasOwn = false
  let hasOthers = others !== ''
  for (let at = from; at <= value.length; ) {
    if (at > last && !isBehindOwn) {
      others += hasOthers ? value.slice(at - 1) : value.slice(at).replace(leading, '')
      hasOthers = others !== ''
      break
    }
    const end = endOfPair(value, at)
    const pair = value.slice(at, end)
    // A bare name after a comma belongs to a list that is the value of another cookie.
    const isMember: boolean =
      hasOthers && !isBehindOwn && value.charCodeAt(at - 1) === comma && !pair.includes('=')
    isBehindOwn = !isMember && ((isBehindOwn && attribute.test(pair)) || isOwn(pair))
    if (isBehindOwn) hasOwn = true
    else if (hasOthers) others += value.slice(at - 1, end)
    else {
      others = pair.replace(leading, '')
      hasOthers = others !== ''
    }
    at = end + 1
  }
  if (!hasOwn) return value
  return hasOthers ? others : null
}

/**
 * Returns the value of one of our cookies in the values of Cookie; null for none, and for several, of which
 * one may be planted. Its form is for the caller to check.
 */
export function ownCookieIn(values: readonly string[], name: string): string | null {
  let own: string | null = null
  for (const value of values)
    for (let at = value.indexOf(name); at !== -1; at = value.indexOf(name, at + name.length)) {
      const from = at + name.length
      if (value.charCodeAt(from) !== equals || !beginsPair(value, at)) continue
      if (own !== null) return null
      own = valueAt(value, from + 1)
    }
  return own
}

/** Even without a name: browsers send such a value alone (RFC 6265bis section 5.7). */
export function setsOwnCookie(value: string): boolean {
  if (!value.includes(mark)) return false
  const end = value.indexOf(';')
  return isOwn(end === -1 ? value : value.slice(0, end))
}

function beginsPair(value: string, at: number): boolean {
  let before = at - 1
  while (isOws(value.charCodeAt(before))) before--
  return before < 0 || value.charCodeAt(before) === semicolon
}

function valueAt(value: string, from: number): string {
  let end = value.indexOf(';', from)
  if (end === -1) end = value.length
  while (isOws(value.charCodeAt(end - 1))) end--
  return value.slice(from, end)
}

function startOfPair(value: string, at: number): number {
  let from = at
  while (from > 0 && !isSeparator(value.charCodeAt(from - 1))) from--
  return from
}

/** A comma counts too: readers of RFC 2965 split there, and hops may join several fields with it. */
function endOfPair(value: string, from: number): number {
  for (let at = from; at < value.length; at++) if (isSeparator(value.charCodeAt(at))) return at
  return value.length
}

function isSeparator(code: number): boolean {
  return code === semicolon || code === comma
}

/** In the most generous reading: with blanks and quotes around its name, and equals signs before it. */
function isOwn(pair: string): boolean {
  let from = 0
  while (isAround(pair.charCodeAt(from)) || pair.charCodeAt(from) === equals) from++
  let to = pair.indexOf('=', from)
  if (to === -1) to = pair.length
  while (isAround(pair.charCodeAt(to - 1))) to--
  return ownNames.has(pair.slice(from, to))
}

function isAround(code: number): boolean {
  return isOws(code) || code === 0x22
}

const semicolon = 0x3b
const comma = 0x2c
const equals = 0x3d
