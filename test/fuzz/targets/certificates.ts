// DER: its parts, revocation lists that OpenSSL accepts, and what certificates say of clients.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { authorityKeyIn } from '../../../src/certificates/acme/certificate-id.ts'
import { revocationLists } from '../../../src/config/shape/rules.ts'
import { Certificate } from '../../../src/tls/certificate.ts'
import { ClientCertificate } from '../../../src/tls/client-certificate.ts'
import { partsOf } from '../../../src/tls/der.ts'
import { isCertificate } from '../../../src/tls/pem.ts'
import { readRevocationList } from '../../../src/tls/revocation-list.ts'
import { root } from '../../help/source.ts'
import type { Target } from '../target.ts'

function attempt(input: Buffer): void {
  assertParts(input, 0)
  authorityKeyIn(input)
  assertList(input)
  const certificate = certificateIn(input)
  if (certificate === null) return
  const client = new ClientCertificate(certificate, null)
  const { subject, issuer, serial, dnsNames, uris, emails, fingerprint } = client
  for (const text of [subject, issuer, ...dnsNames, ...uris, ...emails]) assert.match(text, /^[ -~]*$/)
  // OpenSSL leaves names out that it cannot read as a whole.
  if (certificate.subjectAltName !== undefined) {
    const names = alternativesIn(input)
    const written = [0x82, 0x86, 0x81].map(tag => ofPlain(names.get(tag) ?? []))
    assert.deepEqual([dnsNames, uris, emails].map(ofPlain), written)
  }
  assertOwn(certificate.toString())
  assert.match(serial, /^-?[0-9a-f]*$/)
  assert.match(fingerprint, /^[0-9a-f]{64}$/)
}

/** Reads the alternative names from the DER, by their tags (RFC 5280 section 4.2.1.6). */
function alternativesIn(certificate: Buffer): ReadonlyMap<number, readonly string[]> {
  const within = (der: Buffer | undefined) => (der === undefined ? [] : partsOf(der))
  const [fields] = within(partsOf(certificate)[0]?.content)
  const extensions = within(within(fields?.content).find(({ tag }) => tag === 0xa3)?.content)
  const listed = within(extensions[0]?.content).map(({ content }) => partsOf(content))
  const own = listed.find(([id]) => id?.content.equals(Buffer.from([0x55, 0x1d, 0x11])))
  const names = within(within(own?.at(-1)?.content)[0]?.content)
  return new Map(
    [...Map.groupBy(names, ({ tag }) => tag)].map(([tag, parts]) => [
      tag,
      parts.map(({ content }) => content.toString('latin1')),
    ]),
  )
}

/** Others are written with escapes or in quotes. */
function ofPlain(names: readonly string[]): readonly string[] {
  return names.filter(name => /^[\w.:/@*-]+$/.test(name))
}

/** What is taken for a certificate of the operator has names and times; its key may be of any kind. */
function assertOwn(pem: string): void {
  if (!isCertificate(pem)) return void assert.throws(() => new Certificate(pem))
  const { notBefore, notAfter, names } = ownCertificate(pem) ?? { notBefore: 0, notAfter: 0, names: [] }
  assert.ok(Number.isFinite(notBefore) && Number.isFinite(notAfter))
  assert.ok(names.every(name => name === name.toLowerCase()))
}

function ownCertificate(pem: string): Certificate | null {
  try {
    return new Certificate(pem)
  } catch {
    return null
  }
}

/** Parts lie behind each other, in what they are parts of. */
function assertParts(der: Buffer, depth: number): void {
  let size = 0
  for (const { content } of partsOf(der)) {
    size += 2 + content.length
    if (depth < 6) assertParts(content, depth + 1)
  }
  assert.ok(size <= der.length)
}

function assertList(der: Buffer): void {
  const pem = `-----BEGIN X509 CRL-----\n${der.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END X509 CRL-----\n`
  try {
    createSecureContext({ crl: pem })
  } catch {
    return
  }
  const { issuer, thisUpdate, nextUpdate } = readRevocationList(pem)
  assert.ok(!issuer.includes('undefined'))
  const hasTimes = !Number.isNaN(thisUpdate) && !Number.isNaN(nextUpdate)
  assert.equal('value' in revocationLists(pem), hasTimes)
}

function certificateIn(der: Buffer): X509Certificate | null {
  try {
    return new X509Certificate(der)
  } catch {
    return null
  }
}

/** Gives the outermost values the lengths of what is there, up to the names of a certificate. */
function repair(input: Buffer): Buffer {
  const result = Buffer.from(input)
  let end = result.length
  for (let at = 0, depth = 0; depth < 2 && at + 4 <= end; depth++, at += 4) {
    if (result[at] !== 0x30 || result[at + 1] !== 0x82) break
    if (depth === 0) result.writeUInt16BE(Math.min(end - at - 4, 0xffff), at + 2)
    end = Math.min(end, at + 4 + result.readUInt16BE(at + 2))
  }
  return result
}

const files = ['ca.pem', 'client.pem', 'clients-ca.pem', 'clients.crl']

export const target: Target = {
  seeds: files.map(name => {
    const pem = readFileSync(join(root, 'test/golden/config/files', name), 'latin1')
    return Buffer.from(/-----BEGIN[^-]+-----([^-]+)-----/.exec(pem)![1]!, 'base64')
  }),
  tokens: [
    ...[
      '0\x03',
      '1\x0b0\x09\x06\x03U\x04\x03\x0c\x02',
      '\x06\x03U\x04\x0a',
      '\x06\x03U\x1d\x11',
      '\x06\x03U\x1d\x23',
      '\x02\x01\x01',
      '\x82\x01a',
      '\x86\x01a',
      '\x81\x01a',
    ],
    ...[
      '\x87\x04\x01\x02\x03\x04',
      '\xa0\x03',
      '\x80',
      '\x84\x7f\xff\xff\xff',
      '\x82\xff\xff',
      '\x17\x0d991231235959Z',
      '\x18\x0f20991231235959Z',
      '\x13\x01',
      '\x1e\x02\0a',
      '\x0c\x02\xc3\xa9',
      '"',
      ',',
      '\n',
      '\0',
      '+',
    ],
  ],
  maxLength: 1024,
  covers: ['src/tls/', 'src/certificates/acme/certificate-id.ts'],
  repair,
  attempt,
}
