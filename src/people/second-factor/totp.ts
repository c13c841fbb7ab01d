// One-time passwords (RFC 6238) with the parameters of every authenticator app: SHA-1, 30 s, 6 digits.

import { createHmac, timingSafeEqual } from 'node:crypto'

const period = 30_000 // ms
const digits = 6
/** How many steps a clock may be early or late. */
const drift = 1

export function stepAt(now: number): number {
  return Math.floor(now / period)
}

export function totpCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = mac[mac.length - 1]! & 0xf
  const number = (mac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** digits
  return String(number).padStart(digits, '0')
}

/** Finds the step of a code, current or neighbour, after `lastStep`; else null. In constant time. */
export function matchingStep(secret: Buffer, code: string, now: number, lastStep: number): number | null {
  if (!isCode(code)) return null
  const given = Buffer.from(code)
  let match: number | null = null
  for (let step = stepAt(now) - drift; step <= stepAt(now) + drift; step++) {
    const isSame = timingSafeEqual(given, Buffer.from(totpCode(secret, step)))
    if (isSame && step > lastStep) match = step
  }
  return match
}

export function isCode(text: string): boolean {
  return /^[0-9]{6}$/.test(text)
}

export function otpauthUri(secret: Buffer, issuer: string, holder: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(holder)}`
  const of = `issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${digits}&period=${period / 1000}`
  return `otpauth://totp/${label}?secret=${base32(secret)}&${of}`
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Encodes bytes as base32 (RFC 4648 section 6), without padding. */
export function base32(bytes: Buffer): string {
  let text = ''
  let bits = 0
  let pending = 0
  for (const byte of bytes) {
    pending = (pending << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(pending >>> (bits - 5)) & 31]
    pending &= 31
  }
  return bits === 0 ? text : text + alphabet[(pending << (5 - bits)) & 31]
}
