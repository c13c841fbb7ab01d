// Finds credentials of this gateway in places where they do not belong: forwarded, they would give a third party access.

import { token68Of } from './bearer.ts'

/** API tokens, access and refresh tokens, and client secrets, by their prefix: at the beginning of a word, in any mix of characters and percent-encoding. */
const ours =
  /(?:s|%73)(?<=(?:^|[^A-Za-z0-9]|%[\dA-Fa-f]{2})(?:s|%73))(?:v|%76)(?:c|%63)(?:[tors]|%7[234]|%6[Ff])(?:_|%5[Ff])/
/** A complete one, of at least 256 bits, also after a letter or digit (`Bearersvct_…`). */
const whole = /svc[tors]_[\w-]{43}/
/** The percent sign of a text that is encoded more than once. */
const encodedAgain = /%(?:25)+/g
const basicCredentials = /^basic[ \t]+(.*)$/i
/** The length of the shortest that is found. */
const shortest = 5
/** A token in its place, as nearly all of them are. */
const wellBorne = /^[Bb][Ee][Aa][Rr][Ee][Rr][ \t]+svc[tors]_[\w-]*$/

/** Whether a text contains a credential of this gateway. */
export function holdsOurs(text: string): boolean {
  if (text.length < shortest || !isSuspicious(text)) return false
  if (!text.includes('%')) return ours.test(text) || whole.test(text)
  return ours.test(text.includes('%25') ? text.replace(encodedAgain, '%') : text) || whole.test(text)
}

/** Whether a text has what every spelling of them has, and hardly any other text: a percent sign or `svc`. */
function isSuspicious(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x25) return true
    if (code === 0x63 && i > 1 && text.charCodeAt(i - 1) === 0x76 && text.charCodeAt(i - 2) === 0x73)
      return true
  }
  return false
}

/** Whether the value of a field contains a credential of this gateway, plain or as user or password of Basic (RFC 7617). */
export function valueHoldsOurs(value: string): boolean {
  if (holdsOurs(value)) return true
  const mayBeBasic = (value.charCodeAt(0) | 0x20) === 0x62 && (value.charCodeAt(1) | 0x20) === 0x61
  const basic = mayBeBasic ? basicCredentials.exec(value) : null
  return basic !== null && holdsOurs(Buffer.from(basic[1]!, 'base64').toString('latin1'))
}

/** Whether a field that may carry a token of this gateway contains one in any other form than `Bearer`. */
export function isMisborne(value: string): boolean {
  return !wellBorne.test(value) && valueHoldsOurs(value) && token68Of(value)?.search(ours) !== 0
}
