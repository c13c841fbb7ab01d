// Finds credentials of this gateway in places where they do not belong: forwarded, they would give a third party access. One rule serves AI routes and sites.

import { token68Of } from './bearer.ts'

/**
 * How a character may be spelled besides as itself, before its two hex digits: percent-encoded, any number of times, as `%u0073`, or as JSON escapes it, also
 * within other JSON.
 */
const escaping = '(?:%(?:25)*(?:u00)?|\\\\{1,8}u00)'
/** One of `A-Z a-z 0-9 _ -`, by its hex digits. */
const ofSecret = '(?:2[Dd]|3\\d|4[1-9A-Fa-f]|5[\\dAaFf]|6[1-9A-Fa-f]|7[\\dAa])'
/** Joined lower-case words, as in campaign names (`websvcs_order_history_of_the_last_twelve_months`); fewer than one secret in ten million looks like that. */
const words = '(?=[a-z\\d_-]{32})(?:[a-z\\d]+[_-]){2}'
/** What API tokens, access and refresh tokens, and client secrets begin with, where no words follow. */
export const prefixes = `(?:s|${escaping}73)(?:v|${escaping}76)(?:c|${escaping}63)(?:[tors]|${escaping}(?:7[234]|6[Ff]))(?:_|${escaping}5[Ff])(?!${words})`
/** One character of what follows. */
export const character = `(?:[\\w-]|${escaping}${ofSecret})`
/** So many of the 43 characters of a secret make one: fewer leave more than anybody can guess, and a text that only mentions a prefix has no credential. */
export const fewest = 32

/** A credential, wherever it begins. */
const ours = new RegExp(`${prefixes}${character}{${fewest}}`)
/** Characters of the shortest. */
const shortest = 'svct_'.length + fewest
const shortestBasic = 'Basic '.length + Math.ceil((shortest * 4) / 3)
const basicCredentials = /(?<![A-Za-z0-9])basic[ \t]+([\w+/=-]+)/gi
/** The most Basic credentials of one field that are decoded. */
const mostBasic = 16
/** What every spelling of them has, and hardly any other text. */
const suspicious = /svc|%|\\/
/** The end of `Basic` and a blank; apart from the others, since together they cost three times as much. */
const suspiciousOfBasic = /[iI][cC][ \t]/
/** A token in its place, as nearly all of them are. */
const wellBorne = /^[Bb][Ee][Aa][Rr][Ee][Rr][ \t]+svc[tors]_[\w-]*$/

/** Whether a text contains a credential of this gateway. */
export function holdsOurs(text: string): boolean {
  return text.length >= shortest && suspicious.test(text) && ours.test(text)
}

/** Whether the value of a field contains a credential of this gateway, plain or as user or password of Basic (RFC 7617), or more Basic credentials than are looked at. */
export function valueHoldsOurs(value: string): boolean {
  if (value.length < shortest) return false
  if (suspicious.test(value) && ours.test(value)) return true
  return value.length >= shortestBasic && suspiciousOfBasic.test(value) && basicHoldsOurs(value)
}

function basicHoldsOurs(value: string): boolean {
  let count = 0
  for (const [, credentials] of value.matchAll(basicCredentials)) {
    if (++count > mostBasic) return true
    if (ours.test(Buffer.from(credentials!, 'base64').toString('latin1'))) return true
  }
  return false
}

/** Whether a field that may carry a token of this gateway contains one in any other form than `Bearer`. */
export function hasMisplacedToken(value: string): boolean {
  return !wellBorne.test(value) && valueHoldsOurs(value) && token68Of(value)?.search(ours) !== 0
}

/** Returns where the request line has a credential of this gateway, in words; null where it has none. */
export function placeInLine({
  method,
  target,
}: {
  readonly method: string
  readonly target: string
}): string | null {
  if (holdsOurs(target)) return holdsOurs(target.split('?', 1)[0]!) ? 'the path' : 'the query'
  return holdsOurs(method) ? 'the method' : null
}

/** Returns where a field has a credential of this gateway, in words; null where it has none, and where it has one as `Bearer` and `mayBear` that. */
export function placeInField(name: string, value: string, mayBear: boolean): string | null {
  if (holdsOurs(name)) return 'the name of a header'
  const isMisplaced = mayBear ? hasMisplacedToken(value) : valueHoldsOurs(value)
  return isMisplaced ? `the header ${name.slice(0, longestName).toLowerCase()}` : null
}

/** The most characters of a name that are shown. */
const longestName = 64
