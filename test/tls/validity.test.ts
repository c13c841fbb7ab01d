import { deepEqual, equal, throws } from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { createSecureContext } from 'node:tls'
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { Certificate } from '../../src/tls/certificate.ts'
import { ClientCertificate } from '../../src/tls/client-certificate.ts'
import { isCertificate } from '../../src/tls/pem.ts'
import { validityOf } from '../../src/tls/validity.ts'

const { cert: certificate } = selfSigned('a.test', 30)

/** Returns it with a letter for a digit of the time from which it is valid. */
function malformed(pem: string): string {
  const der = Buffer.from(pem.replaceAll(/-----[^-]+-----/g, ''), 'base64')
  // A serial number may have any bytes, so that only the whole of a UTCTime tells where it is.
  const at = der.toString('latin1').search(/\x17\x0d\d{12}Z/)
  der[at + 13] = 0x78
  return `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`
}

test('a certificate is valid between its two times', () => {
  const { notBefore, notAfter } = validityOf(new X509Certificate(certificate))
  equal(notAfter - notBefore, 31 * 86_400_000)
})

test('a time that cannot be read is none, though OpenSSL would take the certificate', () => {
  const pem = malformed(certificate)
  createSecureContext({ ca: pem })
  // Node reads such a time from memory that nobody wrote, so that some readings make a date of it.
  for (let i = 0; i < 500; i++) {
    const { notBefore, notAfter } = new ClientCertificate(new X509Certificate(pem), null)
    deepEqual([notBefore, Number.isNaN(notAfter)], [Number.NaN, false])
    deepEqual([isCertificate(pem), isCertificate(certificate)], [false, true])
    throws(() => new Certificate(pem), /validity/)
  }
})
