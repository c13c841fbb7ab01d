// Seals small secrets at rest (AES-256-GCM): a reader of the store can neither read nor swap them.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const cipher = 'aes-256-gcm'
const ivLength = 12
const tagLength = 16

/** Returns base64url of IV, ciphertext and tag; the key has 32 bytes. */
export function seal(key: Buffer, text: string, context: string): string {
  const iv = randomBytes(ivLength)
  const sealing = createCipheriv(cipher, key, iv, { authTagLength: tagLength }).setAAD(Buffer.from(context))
  const sealed = [iv, sealing.update(text, 'utf8'), sealing.final(), sealing.getAuthTag()]
  return Buffer.concat(sealed).toString('base64url')
}

/** Null if the text was changed, or sealed with another key or for another context. */
export function unseal(key: Buffer, sealed: string, context: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  const end = bytes.length - tagLength
  if (end < ivLength) return null
  const iv = bytes.subarray(0, ivLength)
  const opening = createDecipheriv(cipher, key, iv, { authTagLength: tagLength })
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(end))
  const text = opening.update(bytes.subarray(ivLength, end))
  try {
    return Buffer.concat([text, opening.final()]).toString('utf8')
  } catch {
    return null
  }
}
