// The format of an API token: `svct_`, 256 random bits, and a checksum, so that a typo is refused without a lookup.

import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const prefix = 'svct_'
const secretLength = 43
const checksumLength = 6
const length = prefix.length + secretLength + checksumLength

/** Makes a new token; only the digest is ever stored. */
export function mintToken(): { value: string; digest: string } {
  const unchecked = prefix + randomBytes(32).toString('base64url')
  const value = unchecked + checksumOf(unchecked)
  return { value, digest: digestOf(value) }
}

/** Whether prefix, length, alphabet and checksum are those of a token. */
export function isWellFormed(value: string): boolean {
  if (value.length !== length || !value.startsWith(prefix)) return false
  for (let i = prefix.length; i < length; i++) if (!isBase64Url(value.charCodeAt(i))) return false
  const end = length - checksumLength
  return value.slice(end) === checksumOf(value.slice(0, end))
}

/** Digests a token to SHA-256, in hex: its 256 random bits need neither salt nor a slow hash. */
export function digestOf(value: string): string {
  return hash('sha256', value)
}

const checksum = Buffer.alloc(4)

function checksumOf(unchecked: string): string {
  checksum.writeUInt32BE(crc32(unchecked))
  return checksum.toString('base64url')
}

function isBase64Url(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || // a-z
    (code >= 0x41 && code <= 0x5a) || // A-Z
    (code >= 0x30 && code <= 0x39) || // 0-9
    code === 0x2d || // -
    code === 0x5f // _
  )
}
