// A certificate, its chain and its key, in one file or in two.

import { deepEqual, equal, match } from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { parse } from '../../../src/config/load/parse.ts'
import { Authority } from '../../help/certificates.ts'

const root = new Authority('Root')
const middle = root.intermediate('Middle')
const { certificate, key } = middle.issue(['a.test'])
const other = root.issue(['b.test'])
const chain = `${certificate.trim()}\n${middle.certificate.trim()}\n`

/** Reads a certificate of the listeners whose settings are the content of these files. */
function read(settings: { readonly certificate?: string; readonly key?: string }) {
  const names = Object.keys(settings).map(name => `${name}: file:${name}`)
  const yaml = `tls: { certificates: [{ ${names.join(', ')} }] }\nzones: []\n`
  const readFile = (name: string) => settings[name as keyof typeof settings]!
  return parse(yaml, { env: {}, readFile, findFile: name => name })
}

function identityOf(settings: Parameters<typeof read>[0]) {
  const parsed = read(settings)
  return 'config' in parsed ? parsed.config.tls.certificates[0] : parsed.mistakes
}

function mistakeOf(settings: Parameters<typeof read>[0]): string {
  const parsed = read(settings)
  const messages = 'mistakes' in parsed ? parsed.mistakes.map(({ message }) => message) : []
  equal(messages.join().includes('BEGIN'), false)
  return messages.join('\n')
}

test('the key may be in the file of the certificate, anywhere, with key or without', () => {
  const trimmed = key.trim()
  for (const text of [
    `${key}${chain}`,
    `${chain}${key}`,
    `${certificate}${key}${middle.certificate}`,
    `${middle.certificate}# leaf\n${key}subject=CN = a\n${certificate}`,
  ])
    for (const settings of [{ certificate: text }, { certificate: text, key: text }])
      deepEqual(identityOf(settings), { certificate: chain, key: trimmed })
  deepEqual(identityOf({ certificate: `${chain}${key}`, key }), { certificate: chain, key: trimmed })
})

test('two files are taken as they are, and sorted where the certificate of the key is not first', () => {
  const asWritten = `# both\n${chain}`.trim()
  deepEqual(identityOf({ certificate: asWritten, key }), { certificate: asWritten, key: key.trim() })
  const turned = `${middle.certificate}${certificate}`
  deepEqual(identityOf({ certificate: turned, key }), { certificate: chain, key: key.trim() })
})

test('what cannot be told apart, or used, is refused with the reason', () => {
  const secret = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
  }).privateKey
  const request = '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n'
  for (const [settings, reason] of [
    [{ certificate: chain }, /^certificate needs key as well, in a setting or in the same file$/],
    [{ certificate: `${chain}${key}${other.key}` }, /^certificate has 2 private keys: leave the one/],
    [{ certificate: chain, key: `${key}${other.key}` }, /^key has 2 private keys: leave the one/],
    [
      { certificate: `${chain}${secret}` },
      /^certificate has a private key with a passphrase: write it without/,
    ],
    [{ certificate: chain, key: secret }, /^key has a passphrase: write it without/],
    [{ certificate: `${chain}${key}`, key: other.key }, /^certificate has another private key than key/],
    [
      { certificate: `${chain}${other.key}` },
      /^certificate has a key that fits none of its certificates \(ERR_/,
    ],
    [{ certificate: chain, key: other.key }, /^key cannot be used with the certificate \(ERR_/],
    [
      { certificate: `${chain}${request}${key}` },
      /certificates and a key alone, but has a CERTIFICATE REQUEST$/,
    ],
    [{ certificate: `${chain}${key.slice(0, -30)}` }, /^certificate has a PEM block without its end$/],
    [{ certificate: key }, /^certificate must be PEM certificates/],
  ] as const)
    match(mistakeOf(settings), reason)
})

test('authorities have no key beside them', () => {
  const { certificate: ca, key } = root.identity
  const yaml = 'pools: { a: { origins: [{ url: https://a.test, ca: file:ca }] } }\nzones: []\n'
  const parsed = parse(yaml, { env: {}, readFile: () => ca + key, findFile: name => name })
  match('mistakes' in parsed ? parsed.mistakes[0]!.message : '', /^ca must be PEM certificates/)
})

test('a certificate that is not of the chain is sent all the same, and warned about', () => {
  const parsed = read({ certificate: `${key}${certificate}${other.certificate}${middle.certificate}` })
  const text = 'config' in parsed ? parsed.config.tls.certificates[0]!.certificate : ''
  equal(text, `${chain}${other.certificate.trim()}\n`)
  const warnings = 'warnings' in parsed ? parsed.warnings.map(({ message }) => message) : []
  deepEqual(
    warnings.filter(message => message.includes('chain')),
    ['the certificate of "CN=leaf-2" is not part of the chain: clients get it all the same'],
  )
})
