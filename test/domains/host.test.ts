import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hostFault, hostOf, hostsNamedIn } from '../../src/domains/host.ts'
import { anyCharacter } from '../help/any-text.ts'

test('the host of a URI has one spelling', () => {
  const hosts: Readonly<Record<string, string>> = {
    'https://app.svc.dev/': 'app.svc.dev',
    'https://App.SVC.dev/Path?query': 'app.svc.dev',
    'https://app.svc.dev./': 'app.svc.dev',
    'https://app.svc.dev:8443/': 'app.svc.dev',
    'https://bücher.svc.dev/': 'xn--bcher-kva.svc.dev',
    'https://ex%61mple.com/': 'example.com',
  }
  for (const [uri, host] of Object.entries(hosts)) assert.equal(hostOf(uri), host, uri)
})

test('a text names hosts of public DNS, however they are written', () => {
  const texts: Readonly<Record<string, readonly string[]>> = {
    'Pay.example.COM for app.svc.co.uk': ['pay.example.com', 'app.svc.co.uk'],
    'Ｐａｙ．ｃｏｍ and bücher。de': ['pay.com', 'xn--bcher-kva.de'],
    'pаypal.com': ['xn--pypal-4ve.com'],
    'shop.github.io on a.b.vercel.app, not github.io': ['shop.github.io', 'a.b.vercel.app'],
    'Node.js, v1.2 and e.g. co.uk': [],
    Shop: [],
  }
  for (const [text, hosts] of Object.entries(texts)) assert.deepEqual(hostsNamedIn(text), hosts, text)
  fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 50 }), text => void hostsNamedIn(text)))
})

test('a host whose owner can publish a TXT record has no fault', () => {
  const hosts = [
    'svc-shop.com',
    'app.svc-shop.co.uk',
    'a.b.c.d.svc-shop.io',
    'www.ck',
    'xn--bcher-kva.de',
    '_svc.svc-shop.com',
    'svc.uk.com',
    'a.svc.fr.eu.org',
    'amazonaws.com',
    'svc.intranet',
    'app.example.com',
    'svc.test',
    `${'a'.repeat(63)}.com`,
  ]
  for (const host of hosts) assert.equal(hostFault(host), null, host)
})

const address = 'must have a host name, not an IP address: only names have TXT records'
const name = 'must have a host name of at most 253 characters, with at most 63 between dots'
const label = 'must have a full host name, such as app.example.com'
const special = 'must have a host name in public DNS, not a special-use name such as .local'
const publicSuffix = (suffix: string) =>
  `must have a host in a domain of your own: ${suffix} is a public suffix`
const privateSuffix = (suffix: string) =>
  `must have a host in a domain of your own: only the provider can publish TXT records under ${suffix}`

const faults: readonly [host: string, fault: string][] = [
  ['127.0.0.1', address],
  ['127.1', address],
  ['2130706433', address],
  ['a.0x7f', address],
  ['[::1]', address],
  ['::1', address],
  ['', name],
  ['a..com', name],
  ['app.svc-shop.com.', name],
  ['-a.com', name],
  ['a-.com', name],
  ["a'b.com", name],
  ['*.svc-shop.com', name],
  [`${'a'.repeat(64)}.com`, name],
  [`${'a.'.repeat(125)}comm`, name],
  ['localhost', label],
  ['com', label],
  ['printer.local', special],
  ['app.localhost', special],
  ['svc.onion', special],
  ['svc.invalid', special],
  ['svc.home.arpa', special],
  ['co.uk', publicSuffix('co.uk')],
  ['svc.ck', publicSuffix('svc.ck')],
  ['uk.com', publicSuffix('uk.com')],
  ['github.io', privateSuffix('github.io')],
  ['svc.pages.dev', privateSuffix('pages.dev')],
  ['a.svc.pages.dev', privateSuffix('pages.dev')],
  ['svc.s3.amazonaws.com', privateSuffix('s3.amazonaws.com')],
]

for (const [host, fault] of faults) {
  test(`no owner of ${JSON.stringify(host.slice(0, 40))} can prove it, and the words say why`, () => {
    assert.equal(hostFault(host), fault)
  })
}

test('hosts that a URL parser reads as an address are refused as addresses', () => {
  for (const written of [
    '0x7f.1',
    '0177.0.0.1',
    '127.0.0.1.',
    '4294967295',
    '[::ffff:127.0.0.1]',
    '１２７.1',
  ])
    assert.equal(hostFault(hostOf(`https://${written}/`)), address, written)
})

test('whatever stands in a URI, there is a verdict, and a good host is one that DNS can be asked for', () => {
  const authority = fc.oneof(fc.domain(), fc.string(), fc.webAuthority(), fc.ipV4(), fc.ipV6())
  fc.assert(
    fc.property(authority, written => {
      const uri = `https://${written}/`
      if (!URL.canParse(uri)) return
      const host = hostOf(uri)
      const fault = hostFault(host)
      if (fault === null) assert.match(host, /^(?=.{1,253}$)([a-z\d_-]{1,63}\.)+[a-z\d_-]{1,63}$/)
      else assert.match(fault, /^must have a /)
    }),
    { numRuns: 2_000 },
  )
})
