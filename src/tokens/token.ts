// The format of tokens, by what they begin with: `svct_` those of the API, `svco_` and `svcr_` the access and refresh tokens of OAuth. Then follow 256 random
// bits and a checksum, so that a typo is refused without a lookup.

import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

type TokenPrefix = 'svct_' | 'svco_' | 'svcr_'

const prefixLength = 5
const secretLength = 43
const checksumLength = 6
const length = prefixLength + secretLength + checksumLength

/** Makes a new token; only the digest is ever stored. */
export function mintToken(prefix: TokenPrefix = 'svct_'): { value: string; digest: string } {
  const unchecked = prefix + randomBytes(32).toString('base64url')
  const value = unchecked + checksumOf(unchecked)
  return { value, digest: digestOf(value) }
}

/** Whether prefix, length, alphabet and checksum are those of a token; of the API, unless another prefix is meant. */
export function isWellFormed(value: string, prefix: TokenPrefix = 'svct_'): boolean {
  if (value.length !== length || !value.startsWith(prefix)) return false
  for (let i = prefixLength; i < length; i++) if (!isBase64Url(value.charCodeAt(i))) return false
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
