// Blocks of PEM in texts of all kinds.

import { deepEqual, equal } from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { isEncrypted, pemBlocks, readPem, sortPem } from '../../src/tls/pem.ts'

const { cert, key } = selfSigned('a.test')
const certificate = cert.trim()
const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----'
const request = '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----'
// RFC 1421 section 4.6: hyphens stand within the block.
const legacy = [
  '-----BEGIN RSA PRIVATE KEY-----',
  'Proc-Type: 4,ENCRYPTED',
  'DEK-Info: AES-128-CBC,3F17F5316E2BAC89',
  '',
  'AAAA',
  '-----END RSA PRIVATE KEY-----',
].join('\n')

const blocks = fc.constantFrom(certificate, key.trim(), parameters, request, legacy)
/** Bag attributes, comments and the like. */
const words = fc.stringMatching(/^[\w #:=/.,\r\n-]*$/).filter(text => !text.includes('-----'))

test('every block is found, whatever is between them', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(words, blocks)), words, (parts, last) => {
      const text = `${parts.map(([before, block]) => `${before}\n${block}\n`).join('')}${last}`
      const expected = parts.map(([, block]) => block)
      deepEqual(pemBlocks(text), expected)
      equal(readPem(text).isWhole, true)
      const { certificates, keys, others } = sortPem(text)
      deepEqual(
        certificates,
        expected.filter(block => block === certificate),
      )
      deepEqual(
        keys,
        expected.filter(block => block === key.trim() || block === legacy),
      )
      deepEqual(
        others,
        expected.filter(block => block === request).map(() => 'CERTIFICATE REQUEST'),
      )
    }),
  )
})

test('a block that is cut anywhere is not taken, and its text is not whole once its first line is', () => {
  const begin = certificate.indexOf('\n')
  fc.assert(
    fc.property(fc.integer({ min: begin, max: certificate.length - 1 }), blocks, (end, next) => {
      const cut = certificate.slice(0, end)
      deepEqual(readPem(cut), { blocks: [], isWhole: false })
      const { blocks: found, isWhole } = readPem(`${cut}\n${next}`)
      deepEqual([found.map(({ text }) => text), isWhole], [[next], false])
    }),
  )
})

test('the blocks of any text are parts of it, in this order', () => {
  const boundaries = fc.constantFrom(
    '-----BEGIN CERTIFICATE-----',
    '-----END CERTIFICATE-----',
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
    '-----BEGIN -----',
    '-----',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(boundaries, fc.string())), parts => {
      const text = parts.join('\n')
      let at = 0
      for (const block of pemBlocks(text)) {
        at = text.indexOf(block, at)
        equal(at >= 0, true)
        at += block.length
        equal(block.match(/-----BEGIN [\w ]+-----/g)!.length, 1)
      }
    }),
  )
})

test('keys with a passphrase are told from those without, in either form', () => {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
  })
  deepEqual([isEncrypted(privateKey), isEncrypted(legacy), isEncrypted(key)], [true, true, false])
})
