// Ray ids: 64 random bits as 16 lower-case hex digits, one a request. The edge makes them, everybody shows them.

import { randomFillSync } from 'node:crypto'

const rayBytes = 8
const batch = Buffer.allocUnsafe(rayBytes * 512)
let digits = ''
let next = 0

/** Returns an id that no other request of any worker has; random bytes are drawn 512 ids at a time. */
export function nextRay(): string {
  if (next === digits.length) {
    digits = randomFillSync(batch).toString('hex')
    next = 0
  }
  return digits.slice(next, (next += rayBytes * 2))
}
