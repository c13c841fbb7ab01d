// The name by which an authority knows a certificate that it issued (RFC 9773 section 4.1).

import { X509Certificate } from 'node:crypto'

/** DER of the object identifier of authorityKeyIdentifier (RFC 5280 section 4.2.1.1). */
const authorityKeyIdentifier = Buffer.from('0603551d23', 'hex')
const octetString = 0x04
const sequence = 0x30
const keyIdentifier = 0x80

/** Returns the id of the first certificate of a chain, PEM; null for one that does not say which key has signed it. */
export function certificateId(chain: string): string | null {
  const { raw, serialNumber } = new X509Certificate(chain)
  const at = raw.indexOf(authorityKeyIdentifier)
  if (at < 0) return null
  const extension = contentOf(raw.subarray(at + authorityKeyIdentifier.length), octetString)
  const identifier = extension && contentOf(extension, sequence)
  const key = identifier && contentOf(identifier, keyIdentifier)
  return key && `${key.toString('base64url')}.${serialOf(serialNumber).toString('base64url')}`
}

/** Returns the content of the value that the bytes begin with, if it has this tag. */
function contentOf(bytes: Buffer, tag: number): Buffer | null {
  const [first, length = 0x80] = bytes
  // Nothing in this extension takes 128 bytes.
  return first === tag && length < 0x80 && bytes.length >= 2 + length ? bytes.subarray(2, 2 + length) : null
}

/** Returns the serial number as DER has it: with a zero in front where the first bit would say that it is negative. */
function serialOf(hex: string): Buffer {
  const digits = hex.length % 2 === 0 ? hex : `0${hex}`
  return Buffer.from(Number.parseInt(digits.slice(0, 2), 16) >= 0x80 ? `00${digits}` : digits, 'hex')
}
