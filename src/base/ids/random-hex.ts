// Random hex ids that need not be secret, as cheap as a copy.

import { randomFillSync } from 'node:crypto'

const batch = Buffer.allocUnsafe(4096)
let digits = ''
let next = 0

/** At most 8,192 digits, not all 0; draws 4,096 random bytes at a time. */
export function randomHex(length: number): string {
  if (next + length > digits.length) {
    digits = randomFillSync(batch).toString('hex')
    next = 0
  }
  const drawn = digits.slice(next, (next += length))
  return drawn[0] !== '0' || /[^0]/.test(drawn) ? drawn : randomHex(length)
}
