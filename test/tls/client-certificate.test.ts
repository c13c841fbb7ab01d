import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { ClientCertificate } from '../../src/tls/client-certificate.ts'
import { Authority } from '../help/certificates.ts'

const authority = new Authority('Clients')
const read = (subject: string, names: readonly string[] = [], extensions: readonly string[] = []) =>
  new ClientCertificate(
    new X509Certificate(authority.issue(names, { subject, extensions }).certificate),
    null,
  )

test('a certificate says whose it is, who issued it, and for how long', () => {
  const { certificate } = authority.issue([], { subject: '/C=DE/O=Shop/CN=alice', days: 3 })
  const known = new X509Certificate(certificate)
  const one = new ClientCertificate(known, null)
  assert.deepEqual([one.subject, one.issuer, one.fault], ['CN=alice,O=Shop,C=DE', 'CN=Clients', null])
  assert.equal(one.fingerprint, createHash('sha256').update(known.raw).digest('hex'))
  assert.equal(one.serial, known.serialNumber.toLowerCase())
  assert.equal(one.notAfter - one.notBefore, 3 * 86_400_000)
  assert.deepEqual([one.der.equals(known.raw), one.chainTo([])], [true, []])
})

test('names are ASCII on one line, and cannot be taken for others', () => {
  const names: readonly [string, string][] = [
    ['/CN=a, O=b', 'CN=a\\, O=b'],
    ['/CN=a\\+O=b', 'CN=a\\+O=b'],
    ['/O=x/CN=a+OU=b', 'CN=a+OU=b,O=x'],
    ['/O=x/CN=a \\+ OU=b', 'CN=a \\+ OU=b,O=x'],
    ['/CN=zoë', 'CN=zo\\C3\\AB'],
    ['/CN=a\nO=b', 'CN=a\\0AO=b'],
    ['/CN=a\\\\', 'CN=a\\\\'],
    ['/CN= a', 'CN=\\ a'],
    ['/', ''],
  ]
  for (const [subject, written] of names) assert.equal(read(subject).subject, written)
})

test('alternative names are told apart by their kind, whatever they hold', () => {
  const one = read('/CN=x', ['a.example', '192.0.2.1'], [])
  assert.deepEqual([one.dnsNames, one.uris, one.emails], [['a.example'], [], []])
  assert.deepEqual(read('/CN=x').dnsNames, [])
  const odd = read(
    '/CN=x',
    [],
    [
      'subjectAltName=@names\n[names]\nURI.1=spiffe://shop/a\nURI.2=urn:x, DNS:admin.example\nemail.1=a@b.example\nDNS.1=b.example, DNS:admin.example\nDNS.2=c\\"d',
    ],
  )
  assert.deepEqual(odd.uris, ['spiffe://shop/a', 'urn:x, DNS:admin.example'])
  assert.deepEqual(odd.dnsNames, ['b.example, DNS:admin.example', 'c"d'])
  assert.deepEqual(odd.emails, ['a@b.example'])
})

test('every verification error of OpenSSL has a name, known or not', () => {
  const { certificate } = authority.issue([])
  const faultOf = (code: string | null) => {
    const { fault, cause } = new ClientCertificate(new X509Certificate(certificate), code)
    assert.equal(cause, code)
    return fault
  }
  assert.deepEqual(
    [null, 'CERT_REVOKED', 'CRL_HAS_EXPIRED', 'PATH_LENGTH_EXCEEDED', 'SOMETHING_NEW'].map(faultOf),
    [null, 'revoked', 'crl', 'authority', 'other'],
  )
})
