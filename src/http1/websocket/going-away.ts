// Close frames for the shutdown of the gateway (RFC 6455 sections 5.5.1 and 7.4.1).

import { randomBytes } from 'node:crypto'

const finalClose = 0x88
const masked = 0x80
/** 1001, Going Away. */
const high = 0x03
const low = 0xe9

export const goingAway: Buffer = Buffer.from([finalClose, 2, high, low])

/** As a client sends it: masked with an unpredictable key (RFC 6455 section 5.3). */
export function maskedGoingAway(): Buffer {
  const key = randomBytes(4)
  return Buffer.concat([
    Buffer.from([finalClose, masked | 2]),
    key,
    Buffer.from([high ^ key[0]!, low ^ key[1]!]),
  ])
}
