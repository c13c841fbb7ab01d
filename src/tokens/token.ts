// The format of tokens, by prefix: `svct_` for the API, `svco_` and `svcr_` for access and refresh tokens of
// OAuth. Then follow 256 random bits, a checksum against typos, and, in tokens that open an API, a tag, by
// which the holders of the store's key detect made-up ones.

import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { Tagger, tagLength } from './tagger.ts'

type TokenPrefix = 'svct_' | 'svco_' | 'svcr_'

const prefixLength = 5
const secretLength = 43
const checksumLength = 6
const checksumAt = prefixLength + secretLength
const untaggedLength = checksumAt + checksumLength
const taggedLength = untaggedLength + tagLength

export interface Minted {
  readonly value: string
  readonly digest: string
}

/** Makes a new token, tagged if there is a tagger; only the digest is ever stored. */
export function mintToken(prefix: TokenPrefix = 'svct_', tagger: Tagger | null = null): Minted {
  const unchecked = prefix + randomBytes(32).toString('base64url')
  const untagged = unchecked + checksumOf(unchecked)
  const value = tagger === null ? untagged : untagged + tagger.tagOf(untagged)
  return { value, digest: digestOf(value) }
}

export function taggerOf(key: Buffer): Tagger {
  return new Tagger(key, untaggedLength)
}

/** Tags random values that are no tokens: they are shorter, so that no tag of one is that of a token. */
export function valueTaggerOf(key: Buffer): Tagger {
  return new Tagger(key, secretLength)
}

export function isWellFormed(value: string, prefix: TokenPrefix = 'svct_'): boolean {
  const { length } = value
  if ((length !== taggedLength && length !== untaggedLength) || !value.startsWith(prefix)) return false
  // Characters beyond ASCII take more bytes than available, so that the last ones may not fit.
  if (bytes.write(value) !== length) return false
  let crc = crcOfPrefix[prefix]
  for (let i = prefixLength; i < checksumAt; i++) {
    const code = bytes[i]!
    if (sextetOf[code] === noSextet) return false
    crc = crcTable[(crc ^ code) & 0xff]! ^ (crc >>> 8)
  }
  crc = ~crc
  for (let i = checksumAt, shift = 26; i < untaggedLength; i++, shift -= 6) {
    const sextet = shift < 0 ? (crc << -shift) & 0x3f : (crc >>> shift) & 0x3f
    if (sextetOf[bytes[i]!] !== sextet) return false
  }
  for (let i = untaggedLength; i < length; i++) if (sextetOf[bytes[i]!] === noSextet) return false
  return true
}

/** Returns the SHA-256 of a token, in hex: its 256 random bits need neither salt nor a slow hash. */
export function digestOf(value: string): string {
  return hash('sha256', value)
}

const checksum = Buffer.alloc(4)

function checksumOf(unchecked: string): string {
  checksum.writeUInt32BE(crc32(unchecked))
  return checksum.toString('base64url')
}

/** The bytes of the current text: reading characters of a slice is several times slower. */
const bytes = Buffer.alloc(taggedLength)
const noSextet = 64

/** By character, in base64url (RFC 4648 section 5). */
const sextetOf = new Uint8Array(256).fill(noSextet)
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
for (let i = 0; i < alphabet.length; i++) sextetOf[alphabet.charCodeAt(i)] = i

/** CRC-32 byte by byte (RFC 1952 section 8): for so few bytes, a call of zlib costs four times as much. */
const crcTable = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})

const crcOfPrefix: Readonly<Record<TokenPrefix, number>> = {
  svct_: ~crc32('svct_'),
  svco_: ~crc32('svco_'),
  svcr_: ~crc32('svcr_'),
}
