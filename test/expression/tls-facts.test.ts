import { equal, match, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Work } from '../../src/expression/work-budget.ts'
import { compileExpression } from '../../src/expression/expression.ts'
import { maxNameLength, maxNames, noTls, type TlsFacts, typicalName } from '../../src/expression/tls-facts.ts'
import { compiled, facts, refused, request } from '../base/expressions.ts'
import { cpuTime } from '../help/stall.ts'

const fingerprint = 'ab'.repeat(32)
const client: NonNullable<TlsFacts['client']> = {
  subject: 'CN=alice,O=Shop',
  issuer: 'CN=Clients',
  serial: '0a',
  fingerprint,
  notBefore: 1_700_000_000_999,
  notAfter: 1_800_000_000_999,
  dnsNames: ['alice.example'],
  uris: ['spiffe://shop/alice'],
  emails: ['alice@shop.example'],
}
const tls: TlsFacts = {
  version: 'TLSv1.3',
  cipher: 'TLS_AES_128_GCM_SHA256',
  serverName: 'shop.example',
  client,
  isVerified: true,
}
const asked = (text: string, of: Partial<TlsFacts> = {}) =>
  compiled(text).evaluate({ ...facts, request: { ...request, tls: { ...tls, ...of } } })

describe('what expressions can ask of TLS and of the certificate of a client', () => {
  for (const text of [
    'request.scheme == "https"',
    'request.tls.version == "TLSv1.3" && request.tls.cipher.endsWith("GCM_SHA256")',
    'request.tls.server_name == request.host',
    'request.tls.client.present && request.tls.client.verified',
    `request.tls.client.fingerprint_sha256 in ["${fingerprint}"]`,
    'request.tls.client.subject.matches("(^|,)O=Shop$") && request.tls.client.issuer == "CN=Clients"',
    'request.tls.client.serial == "0a"',
    'request.tls.client.not_before == 1700000000 && request.tls.client.not_after > 1799999999',
    '"alice.example" in request.tls.client.dns_names',
    'request.tls.client.uris.exists(uri, uri.startsWith("spiffe://shop/"))',
    'request.tls.client.emails[0] == "alice@shop.example"',
  ])
    test(text, () => equal(asked(text), true))
})

test('without a certificate, and without TLS, all of it is there and empty', () => {
  const none =
    '!request.tls.client.present && !request.tls.client.verified && request.tls.client.subject == "" && request.tls.client.not_after == 0 && request.tls.client.dns_names.size() == 0'
  equal(asked(none, { client: null, isVerified: false }), true)
  equal(asked(`request.tls.version == "" && ${none}`, noTls), true)
})

test('request.tls alone is whether the client came over TLS, as a trusted proxy reports it too', () => {
  for (const text of [
    'request.tls',
    '!(!request.tls)',
    'request.tls ? true : false',
    'request.tls == true',
  ]) {
    equal(compiled(text).evaluate(facts), true)
    equal(compiled(text).evaluate({ ...facts, request: { ...request, scheme: 'http', tls } }), false)
  }
  equal(asked('request.tls && request.tls.client.present'), true)
})

test('unknown fields, and fields of a wrong type, are named', () => {
  for (const [text, says] of [
    ['request.tls.versoin == ""', /versoin/],
    ['request.tls.client.name == ""', /name/],
    ['request.tls.client', /ClientCertificate/],
    ['request.tls.client.not_after == "2027"', /int == string/],
    ['request.tls == "TLSv1.3"', /bool == string/],
  ] as const)
    match(refused(text).message, says)
})

test('what a certificate says beyond what rules are priced for fails them', () => {
  const long = 'a'.repeat(maxNameLength + 1)
  const many = Array.from({ length: maxNames + 1 }, () => 'a')
  const large = Array.from({ length: maxNames }, () => 'a'.repeat(typicalName + 1))
  for (const dnsNames of [[long], many, large])
    equal(
      asked('request.tls.client.dns_names.exists(name, name == "b")', { client: { ...client, dnsNames } }),
      null,
    )
  equal(asked('request.tls.client.subject != ""', { client: { ...client, subject: long } }), null)
  equal(asked('request.tls.client.present', { client: { ...client, subject: long } }), true)
})

test('a request has enough steps for the longest certificate', () => {
  const dnsNames = Array.from({ length: maxNames }, () => 'a'.repeat(typicalName))
  const text = 'request.tls.client.dns_names.exists(name, name.contains("b"))'
  const expression = compileExpression(text, 'request', 'bool')
  ok('work' in expression)
  const longest = { ...facts, request: { ...request, tls: { ...tls, client: { ...client, dnsNames } } } }
  const took = cpuTime(() => equal(expression.evaluate(longest, new Work()), false))
  // Some ms of the processor where its code is cold.
  ok(took < 250, `${took} ms`)
})
