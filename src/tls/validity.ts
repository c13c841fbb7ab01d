// From when until when a certificate is valid.

import type { X509Certificate } from 'node:crypto'

/** Wall-clock ms; NaN for a time that cannot be read, which OpenSSL accepts until it verifies. */
interface Validity {
  readonly notBefore: number
  readonly notAfter: number
}

/** Reads the times of a certificate. Node's date of a malformed one is chance; its text tells. */
export function validityOf(certificate: X509Certificate): Validity {
  const { validFrom, validFromDate, validTo, validToDate } = certificate
  return { notBefore: timeOf(validFrom, validFromDate), notAfter: timeOf(validTo, validToDate) }
}

function timeOf(text: string, date: Date): number {
  return text === 'Bad time value' ? Number.NaN : date.getTime()
}
