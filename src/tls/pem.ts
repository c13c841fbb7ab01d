// Texts in PEM (RFC 7468), which may hold several blocks and words between them.

import { X509Certificate } from 'node:crypto'

/** Whether a text begins with a certificate that can be read. */
export function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem) !== null
  } catch {
    return false
  }
}

/** Lists the blocks of a text, each with its first and last line. */
export function pemBlocks(text: string): readonly string[] {
  return text.match(/-----BEGIN [^-]+-----[^-]*-----END [^-]+-----/g) ?? []
}
