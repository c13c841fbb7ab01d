// The id by which an authority identifies a certificate that it issued (RFC 9773 section 4.1).

import { X509Certificate } from 'node:crypto'
import { partsOf } from '../../tls/der.ts'

/** The tag of the extensions in a certificate (RFC 5280 section 4.1). */
const extensions = 0xa3
/** authorityKeyIdentifier (section 4.2.1.1), and the tag of the key in it. */
const authorityKeyIdentifier = Buffer.from('551d23', 'hex')
const keyIdentifier = 0x80

/** Takes a PEM chain; null if its first certificate does not name the key of its issuer. */
export function certificateId(chain: string): string | null {
  const { raw, serialNumber } = new X509Certificate(chain)
  const key = authorityKeyIn(raw)
  return key && `${key.toString('base64url')}.${serialOf(serialNumber).toString('base64url')}`
}

/** Takes DER; null for none. */
export function authorityKeyIn(certificate: Buffer): Buffer | null {
  const fields = within(within(certificate))
  const all = partsOf(fields).find(({ tag }) => tag === extensions)?.content ?? empty
  for (const { content } of partsOf(within(all))) {
    // Its id, whether it is critical, which is optional, and its value.
    const parts = partsOf(content)
    if (parts[0]?.content.equals(authorityKeyIdentifier) !== true) continue
    const identifier = within(parts.at(-1)!.content)
    return partsOf(identifier).find(({ tag }) => tag === keyIdentifier)?.content ?? null
  }
  return null
}

function within(der: Buffer): Buffer {
  return partsOf(der)[0]?.content ?? empty
}

const empty = Buffer.alloc(0)

/** DER has a leading zero if the first bit would make the number negative. */
function serialOf(hex: string): Buffer {
  const digits = hex.length % 2 === 0 ? hex : `0${hex}`
  return Buffer.from(Number.parseInt(digits.slice(0, 2), 16) >= 0x80 ? `00${digits}` : digits, 'hex')
}
