// The authenticator app of a person, for tests.

import { stepAt, totpCode } from '../../src/people/second-factor/totp.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Reads the secret out of an otpauth URI. */
export function secretOfUri(uri: string): Buffer {
  const text = new URL(uri).searchParams.get('secret')!
  const bits = Array.from(text, letter => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from(bits.match(/.{8}/g)!.map(byte => Number.parseInt(byte, 2)))
}

/** Returns the code that the app shows at a time. */
export function codeAt(uri: string, now: number): string {
  return totpCode(secretOfUri(uri), stepAt(now))
}
