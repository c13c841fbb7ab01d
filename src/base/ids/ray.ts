// Ray ids: 64 random bits as 16 lower-case hex digits, one for each request.

import { randomFillSync } from 'node:crypto'

const rayBytes = 8
const batch = Buffer.allocUnsafe(rayBytes * 512)
let digits = ''
let next = 0

/** Returns an id that no other request of any worker has. */
export function nextRay(): string {
  if (next === digits.length) {
    digits = randomFillSync(batch).toString('hex')
    next = 0
  }
  return digits.slice(next, (next += rayBytes * 2))
}
