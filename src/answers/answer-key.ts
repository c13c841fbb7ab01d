// The key of a response that may be reused: it tells nothing of the call, and none can be made for another's.

import { createHmac } from 'node:crypto'

/** What a call consists of besides its body, in a fixed order; null differs from any text. */
export type KeyPart = string | null

const version = 'answer 1'

/**
 * Returns an HMAC-SHA-256 in base64url, of 43 characters. No two lists of parts and bodies have the same
 * text: each part is preceded by its length, and each list by its own.
 */
export function answerKey(secret: Buffer, parts: readonly KeyPart[], bodies: readonly Buffer[]): string {
  let head = `${version};${parts.length};`
  for (const part of parts) head += part === null ? '~' : `${part.length}:${part}`
  head += `;${bodies.length};`
  for (const body of bodies) head += `${body.length};`
  // Any other encoding takes different halves of characters for the same.
  const hmac = createHmac('sha256', secret).update(head, 'utf16le')
  for (const body of bodies) hmac.update(body)
  return hmac.digest('base64url')
}
