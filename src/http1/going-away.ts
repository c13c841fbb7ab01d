// The Close frames with which a gateway that goes away takes its leave of both ends of a WebSocket (RFC 6455 sections 5.5.1 and 7.4.1).

import { randomBytes } from 'node:crypto'

const FINAL_CLOSE = 0x88
const MASKED = 0x80
/** 1001, Going Away. */
const HIGH = 0x03
const LOW = 0xe9

/** As a server sends it. */
export const goingAway: Buffer = Buffer.from([FINAL_CLOSE, 2, HIGH, LOW])

/** Returns it as a client sends it, masked with a key that nobody can know before (RFC 6455 section 5.3). */
export function maskedGoingAway(): Buffer {
  const key = randomBytes(4)
  return Buffer.concat([
    Buffer.from([FINAL_CLOSE, MASKED | 2]),
    key,
    Buffer.from([HIGH ^ key[0]!, LOW ^ key[1]!]),
  ])
}
