// Credentials of this gateway where they have no place: sent on, they would tell a stranger what opens it. The edge looks through the head of each AI call.
import { token68Of } from './bearer.ts'

/**
 * API tokens, access and refresh tokens, and client secrets, by what they begin with: at the beginning of a word, in any mix of characters and percent-encoding,
 * however often encoded.
 */
const OURS =
  /(?<=^|[^A-Za-z0-9]|%(?:25)*[\dA-Fa-f]{2})(?:s|%(?:25)*73)(?:v|%(?:25)*76)(?:c|%(?:25)*63)(?:[tors]|%(?:25)*(?:7[234]|6[Ff]))(?:_|%(?:25)*5[Ff])/
const BASIC = /^basic[ \t]+(.*)$/i

/** Whether a text holds a credential of this gateway. */
export function holdsOurs(text: string): boolean {
  return (text.includes('svc') || text.includes('%')) && OURS.test(text)
}

/** Whether the value of a field holds a credential of this gateway, as it is or as user or password of Basic (RFC 7617). */
export function valueHoldsOurs(value: string): boolean {
  if (holdsOurs(value)) return true
  const basic = (value.charCodeAt(0) | 0x20) === 0x62 ? BASIC.exec(value) : null
  return basic !== null && holdsOurs(Buffer.from(basic[1]!, 'base64').toString('latin1'))
}

/** Whether a field that may bear a token of this gateway holds one otherwise than as that of Bearer. */
export function isMisborne(value: string): boolean {
  return valueHoldsOurs(value) && token68Of(value)?.search(OURS) !== 0
}
