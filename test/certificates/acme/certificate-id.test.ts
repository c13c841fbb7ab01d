import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { authorityKeyIn, certificateId } from '../../../src/certificates/acme/certificate-id.ts'
import { Authority } from '../../help/certificates.ts'
import { thorough } from '../../help/thorough.ts'

/** The example of RFC 9773 appendix A. */
const example = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----`
const { raw } = new X509Certificate(example)
const key = Buffer.from('69885b6b87464041e1b37b847ba0ae2cde01c8d4', 'hex')

test('a certificate is named by the key that signed it and its serial number', () => {
  assert.equal(certificateId(example), 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE')
})

test('only the extension counts, and not its number in another place', () => {
  const authority = new Authority()
  const extensions = ['1.2.3.4=DER:0603551d23040a300880060102030405', 'authorityKeyIdentifier=keyid']
  const ours = authority.issue(['site.test'], { extensions })
  const named = new X509Certificate(authority.certificate).raw
  const found = authorityKeyIn(new X509Certificate(ours.certificate).raw)
  assert.equal(found?.length, 20)
  assert.ok(named.includes(found))
})

test('bytes that are no certificate have no key, or one that is among them', () => {
  const damaged = fc.oneof(
    fc.uint8Array({ maxLength: 100 }).map(bytes => Buffer.from(bytes)),
    fc.nat(raw.length).map(length => raw.subarray(0, length)),
    fc
      .array(fc.tuple(fc.nat(raw.length - 1), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 4,
      })
      .map(changes => changes.reduce((bytes, [at, byte]) => Buffer.from(bytes.with(at, byte)), raw)),
  )
  assert.deepEqual(authorityKeyIn(raw), key)
  fc.assert(
    fc.property(damaged, bytes => {
      const found = authorityKeyIn(bytes)
      assert.ok(found === null || bytes.includes(found))
    }),
    { numRuns: thorough(2_000, 500) },
  )
})
