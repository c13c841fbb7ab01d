// Ray ids: 64 random bits as 16 lower-case hex digits, one for each request.

import { randomHex } from './random-hex.ts'

export function nextRay(): string {
  return randomHex(16)
}
