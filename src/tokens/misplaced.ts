// Finds credentials of this gateway in places where they do not belong: forwarded, they would give a third party access.

import { token68Of } from './bearer.ts'

/** API tokens, access and refresh tokens, and client secrets, by their prefix: at the beginning of a word, in any mix of characters and percent-encoding. */
const ours =
  /(?:s|%73)(?<=(?:^|[^A-Za-z0-9]|%[\dA-Fa-f]{2})(?:s|%73))(?:v|%76)(?:c|%63)(?:[tors]|%7[234]|%6[Ff])(?:_|%5[Ff])/
/** A complete one, of at least 256 bits, in the same spellings, also after a letter or digit (`Bearersvct_…`). */
const whole = /(?:s|%73)(?:v|%76)(?:c|%63)(?:[tors]|%7[234]|%6[Ff])(?:_|%5[Ff])(?:[\w-]|%[2-7][\dA-Fa-f]){43}/
/** The percent sign of a text that is encoded more than once, or as `%u0073`. */
const encodedAgain = /%(?:(?:25)+(?:u00)?|u00)/g
const basicCredentials = /(?<![A-Za-z0-9])basic[ \t]+([\w+/=-]+)/gi
/** The most Basic credentials of one field that are decoded. */
const mostBasic = 16
/**
 * What every spelling of them has, and hardly any other text: a percent sign, `svc`, or the end of `Basic` and a blank; and the length of the shortest. A loop over the
 * characters of a text that is part of a longer one costs several times as much, and so do classes of letters before the last one.
 */
const suspicious = /%|svc|ic[ \t]|iC[ \t]|Ic[ \t]|IC[ \t]/
const shortest = 5
/** A token in its place, as nearly all of them are. */
const wellBorne = /^[Bb][Ee][Aa][Rr][Ee][Rr][ \t]+svc[tors]_[\w-]*$/

/** Whether a text contains a credential of this gateway. */
export function holdsOurs(text: string): boolean {
  return text.length >= shortest && suspicious.test(text) && holdsSome(text)
}

/** Looks for one in a text that is suspicious. */
function holdsSome(text: string): boolean {
  if (!text.includes('%')) return ours.test(text) || whole.test(text)
  const plain = text.includes('%25') || text.includes('%u00') ? text.replace(encodedAgain, '%') : text
  return ours.test(plain) || whole.test(plain)
}

/** Whether the value of a field contains a credential of this gateway, plain or as user or password of Basic (RFC 7617), or more Basic credentials than are looked at. */
export function valueHoldsOurs(value: string): boolean {
  if (value.length < shortest || !suspicious.test(value)) return false
  return holdsSome(value) || basicHoldsOurs(value)
}

function basicHoldsOurs(value: string): boolean {
  let count = 0
  for (const [, credentials] of value.matchAll(basicCredentials)) {
    if (++count > mostBasic) return true
    if (holdsSome(Buffer.from(credentials!, 'base64').toString('latin1'))) return true
  }
  return false
}

/** Whether a field that may carry a token of this gateway contains one in any other form than `Bearer`. */
export function isMisborne(value: string): boolean {
  return !wellBorne.test(value) && valueHoldsOurs(value) && token68Of(value)?.search(ours) !== 0
}
