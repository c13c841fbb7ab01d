// A response that may be reused, as its caller got it, and its form at rest.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** What is passed on of the head of a response. */
export interface AnswerHead {
  readonly status: number
  readonly reason: string
  /** Names and values in turns. */
  readonly fields: readonly string[]
  readonly contentType: string | null
  readonly isEventStream: boolean
  readonly isEncoded: boolean
}

/** What its provider took for it; null where that is not known. */
export interface AnswerUse {
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  /** US dollars. */
  readonly cost: number | null
}

export interface Answer {
  readonly head: AnswerHead
  readonly use: AnswerUse
  /** Ms since the epoch at which it had come whole. */
  readonly storedAt: number
  readonly expiresAt: number
  readonly body: Buffer
}

const cipher = 'aes-256-gcm'
const ivLength = 12
const tagLength = 16
const sizeLength = 4

/** Returns IV, tag and ciphertext, which only opens under its own key (AES-256-GCM; 32 bytes). */
export function sealAnswer(secret: Buffer, key: string, { body, ...rest }: Answer): Buffer {
  const about = Buffer.from(JSON.stringify(rest))
  const size = Buffer.alloc(sizeLength)
  size.writeUInt32BE(about.length)
  const iv = randomBytes(ivLength)
  const sealing = createCipheriv(cipher, secret, iv, { authTagLength: tagLength }).setAAD(Buffer.from(key))
  const sealed = [sealing.update(size), sealing.update(about), sealing.update(body), sealing.final()]
  return Buffer.concat([iv, sealing.getAuthTag(), ...sealed])
}

/** Null if the bytes were changed, or sealed with another secret or for another key. */
export function openAnswer(secret: Buffer, key: string, sealed: Buffer): Answer | null {
  const start = ivLength + tagLength
  if (sealed.length < start + sizeLength) return null
  const opening = createDecipheriv(cipher, secret, sealed.subarray(0, ivLength), { authTagLength: tagLength })
    .setAAD(Buffer.from(key))
    .setAuthTag(sealed.subarray(ivLength, start))
  const open = opening.update(sealed.subarray(start))
  try {
    opening.final()
  } catch {
    return null
  }
  const end = sizeLength + open.readUInt32BE(0)
  return { ...JSON.parse(open.toString('utf8', sizeLength, end)), body: open.subarray(end) }
}
