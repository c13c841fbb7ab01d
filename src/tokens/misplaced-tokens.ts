// Finds our credentials in wrong places: forwarded, they would give a third party access.

import type { RequestHead } from '../http1/heads/request-head.ts'
import { token68Of } from './bearer.ts'

/** Before two hex digits: any depth of percent-encoding, `%u00`, or a JSON escape, also nested. */
const escaping = '(?:%(?:25)*(?:u00)?|\\\\{1,8}u00)'
/** One of `A-Z a-z 0-9 _ -`, by its hex digits. */
const ofSecret = '(?:2[Dd]|3\\d|4[1-9A-Fa-f]|5[\\dAaFf]|6[1-9A-Fa-f]|7[\\dAa])'
/** Names of campaigns (`websvcs_order_history_…`); fewer than one secret in ten million is like that. */
const words = '(?=[a-z\\d_-]{32})(?:[a-z\\d]+[_-]){2}'
/** The prefixes of API tokens, access and refresh tokens, and client secrets, unless words follow. */
export const prefixes = `(?:s|${escaping}73)(?:v|${escaping}76)(?:c|${escaping}63)(?:[tors]|${escaping}(?:7[234]|6[Ff]))(?:_|${escaping}5[Ff])(?!${words})`
export const character = `(?:[\\w-]|${escaping}${ofSecret})`
/** This many of a secret's 43 characters count as a credential: fewer leave too much to guess. */
export const minLength = 32

const ours = new RegExp(`${prefixes}${character}{${minLength}}`)
/** The length of the shortest credential of this gateway. */
export const shortest = 'svct_'.length + minLength
const shortestBasic = 'Basic '.length + Math.ceil((shortest * 4) / 3)
const basicCredentials = /(?<![A-Za-z0-9])basic[ \t]+([\w+/=-]+)/gi
const maxBasic = 16
/** Part of every encoding of a credential, and of hardly any other text. */
const suspicious = /svc|%|\\/
/** The end of `Basic` and a space; a separate pattern, since a combined one costs three times as much. */
const suspiciousOfBasic = /[iI][cC][ \t]/
/** A token in its proper place, as almost always. */
const wellPlaced = /^[Bb][Ee][Aa][Rr][Ee][Rr][ \t]+svc[tors]_[\w-]*$/

/** Whether a value is an API or access token, and nothing else. */
export function isPlainToken(value: string): boolean {
  return plainToken.test(value)
}

const plainToken = /^svc[to]_[\w-]*$/

export function holdsOurs(text: string): boolean {
  return text.length >= shortest && suspicious.test(text) && ours.test(text)
}

/** Whether a value has our credential, plain or in Basic (RFC 7617), or too many Basic ones. */
export function valueHoldsOurs(value: string): boolean {
  if (value.length < shortest) return false
  if (suspicious.test(value) && ours.test(value)) return true
  return value.length >= shortestBasic && suspiciousOfBasic.test(value) && basicHoldsOurs(value)
}

function basicHoldsOurs(value: string): boolean {
  let count = 0
  for (const [, credentials] of value.matchAll(basicCredentials)) {
    if (++count > maxBasic) return true
    if (ours.test(Buffer.from(credentials!, 'base64').toString('latin1'))) return true
  }
  return false
}

/** Whether a field that may carry a token of this gateway contains one in any other form than `Bearer`. */
export function hasMisplacedToken(value: string): boolean {
  return !wellPlaced.test(value) && valueHoldsOurs(value) && token68Of(value)?.search(ours) !== 0
}

/** Describes where the request line contains a credential of this gateway; null for nowhere. */
export function placeInLine({ method, target }: Pick<RequestHead, 'method' | 'target'>): string | null {
  if (holdsOurs(target)) return holdsOurs(target.split('?', 1)[0]!) ? 'the path' : 'the query'
  return holdsOurs(method) ? 'the method' : null
}

/** Null for nowhere, or for an allowed `Bearer`. */
export function placeInField(name: string, value: string, mayBear: boolean): string | null {
  if (holdsOurs(name)) return 'the name of a header'
  const isMisplaced = mayBear ? hasMisplacedToken(value) : valueHoldsOurs(value)
  return isMisplaced ? `the header ${name.slice(0, maxNameLength).toLowerCase()}` : null
}

const maxNameLength = 64
