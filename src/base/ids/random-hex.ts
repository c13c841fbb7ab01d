// Random ids in hex that need not be secret, at the price of a copy.

import { randomFillSync } from 'node:crypto'

const batch = Buffer.allocUnsafe(4096)
let digits = ''
let next = 0

/** Returns so many random hex digits, at most 8,192, of which not all are 0; random bytes are drawn 4,096 at a time. */
export function randomHex(length: number): string {
  if (next + length > digits.length) {
    digits = randomFillSync(batch).toString('hex')
    next = 0
  }
  const drawn = digits.slice(next, (next += length))
  return /[^0]/.test(drawn) ? drawn : randomHex(length)
}
