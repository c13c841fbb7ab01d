// Argon2id digests as PHC strings: their parameters are stored, so that the cost can be raised later.

import { argon2, getFips, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

export interface Argon2Cost {
  /** KiB. */
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

export interface Argon2Digest extends Argon2Cost {
  readonly salt: Buffer
  readonly digest: Buffer
}

const run = promisify(argon2)
const version = 19
/** The maximum cost of a stored digest, so that a tampered store does not stall the process. */
const maxCost = { memory: 262_144, passes: 16, parallelism: 8 }
const lengths = { min: 16, max: 64 }

export async function digestWith(
  text: string,
  { memory, passes, parallelism }: Argon2Cost,
  salt: Buffer,
  tagLength = 32,
): Promise<Argon2Digest> {
  const digest = await run('argon2id', { message: text, nonce: salt, tagLength, memory, passes, parallelism })
  return { memory, passes, parallelism, salt, digest }
}

/** In constant time. False in FIPS mode, where it cannot be computed. */
export async function hasDigest(text: string, stored: Argon2Digest): Promise<boolean> {
  if (getFips() === 1) return false
  const { digest } = await digestWith(text, stored, stored.salt, stored.digest.length)
  return timingSafeEqual(digest, stored.digest)
}

export function writePhc({ memory, passes, parallelism, salt, digest }: Argon2Digest): string {
  return `$argon2id$v=${version}$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(digest)}`
}

/** Reads a PHC string of argon2id, guarded or not; null if it is invalid, or exceeds the maximum cost. */
export function readPhc(text: string): Argon2Digest | null {
  const [, memory, passes, parallelism, salt = '', digest = ''] = phc.exec(unguarded(text)) ?? []
  const read = {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    digest: Buffer.from(digest, 'base64'),
  }
  return isAllowed(read) ? read : null
}

/**
 * Returns a digest in a form that processes from before passkeys take for no digest, so that they let nobody
 * in by a password that is only one of two steps.
 */
export function guarded(phc: string): string {
  return guard + unguarded(phc)
}

export function unguarded(phc: string): string {
  return phc.startsWith(guard) ? phc.slice(guard.length) : phc
}

const guard = '$passkey'
const phc =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,6}),t=([1-9]\d?),p=([1-9])\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{11,86})$/

function isAllowed({ memory, passes, parallelism, salt, digest }: Argon2Digest): boolean {
  const isOfLength = ({ length }: Buffer) => length >= lengths.min && length <= lengths.max
  return (
    memory >= 8 * parallelism &&
    memory <= maxCost.memory &&
    passes <= maxCost.passes &&
    parallelism <= maxCost.parallelism &&
    isOfLength(salt) &&
    isOfLength(digest)
  )
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
