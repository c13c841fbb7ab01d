import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  addressNames,
  certificateNames,
  crosses,
  crossingLines,
  equalsIgnoreCase,
  field,
  fieldId,
  isSettable,
  listHas,
  targetNames,
  tellsOfHop,
} from '../../src/http1/fields.ts'
import { readPage } from '../help/docs.ts'

describe('fieldId', () => {
  const known = [
    ['Connection', field.connection],
    ['keep-alive', field.keepAlive],
    ['Proxy-Connection', field.proxyConnection],
    ['TE', field.te],
    ['Transfer-Encoding', field.transferEncoding],
    ['UPGRADE', field.upgrade],
    ['HTTP2-Settings', field.http2Settings],
    ['Proxy-Authenticate', field.proxyAuthenticate],
    ['Proxy-Authorization', field.proxyAuthorization],
    ['CONTENT-LENGTH', field.contentLength],
    ['hOsT', field.host],
    ['Expect', field.expect],
    ['Forwarded', field.forwarded],
    ['X-Forwarded-For', field.xForwardedFor],
    ['X-Forwarded-Proto', field.xForwardedProto],
    ['X-Forwarded-Host', field.xForwardedHost],
    ['Via', field.via],
    ['CDN-Loop', field.cdnLoop],
    ['svc-ray', field.ray],
    ['SVC-Hop', field.hop],
    ['Proxy', field.proxy],
    ['Client-Cert', field.clientCertificate],
    ['CLIENT-CERT-CHAIN', field.clientCertificate],
    ['svc-client-subject', field.clientCertificate],
    ['Svc-Client-Fingerprint', field.clientCertificate],
    ['X-Original-URL', field.otherTarget],
    ['X-Rewrite-URL', field.otherTarget],
    ['CloudFront-Viewer-Address', field.xForwarded],
    ['X-Forwarded-Port', field.xForwarded],
    ['X-Forwarded-Client-Cert-Chain-Of-A-Long-Name', field.xForwarded],
    ['X-Forwarded', field.clientAddress],
    ['X-Real-IP', field.clientAddress],
    ['X-Client-IP', field.clientAddress],
    ['True-Client-IP', field.clientAddress],
    ['CF-Connecting-IP', field.clientAddress],
    ['Client-IP', field.clientAddress],
    ['X-Original-Forwarded-For', field.clientAddress],
    ['X-Envoy-External-Address', field.clientAddress],
    ['Accept', field.accept],
    ['Content-Type', field.contentType],
    ['Date', field.date],
    ['Content-Encoding', field.contentEncoding],
  ] as const
  for (const [name, id] of known) test(`knows ${name}`, () => equal(fieldId(name), id))

  const strange = [
    '',
    'Hos',
    'Hostt',
    'Hpst',
    'X-Hosts',
    'content length',
    'x'.repeat(500),
    'X-Forwardedly',
    'X-Forwarde-Port',
    'prox',
    'x-forwarded-',
  ]
  for (const name of strange)
    test(`takes "${name.slice(0, 20)}" for any other field`, () => equal(fieldId(name), field.other))

  test('is not fooled by bytes that only differ in the bit of the case', () => {
    for (const name of ['cONTENT\rLENGTH', 'HOS\x14', '\x08ost', '^ia', 'TRANSFER\rENCODING'])
      equal(fieldId(name), field.other)
  })

  test('sees through what an origin would fold into hyphens or underscores', () => {
    for (const name of [
      'content_length',
      'Transfer_Encoding',
      'X_Forwarded-For',
      'x-forwarded_for',
      'SVC_RAY',
      'svc_hop',
      'X_Real_IP',
      'Client_Cert',
      'client.cert-chain',
      'svc_client_subject',
      'x-real_ip',
      'CF_Connecting-IP',
      'X_Forwarded_Port',
      'X-Forwarded-Client_Cert',
      'x.forwarded.for',
      'X-Real~IP',
      'Content.Length',
      'X.Forwarded-Port',
      'X-Forwarded-Client.Cert',
    ])
      equal(fieldId(name), field.twin)
  })

  test('leaves underscores alone where no known field has a hyphen', () => {
    for (const name of [
      'x_custom',
      '_',
      'ho_t',
      'content_lengths',
      '_-_',
      'x.custom',
      'ho.t',
      'contentxlength',
    ])
      equal(fieldId(name), field.other)
  })

  test('finds a known name in any case, and its underscore variant', () => {
    const anyCase = fc
      .tuple(fc.constantFrom(...known), fc.infiniteStream(fc.boolean()))
      .map(([[name, id], upper]) => {
        const cased = [...name].map(letter =>
          upper.next().value ? letter.toUpperCase() : letter.toLowerCase(),
        )
        return { name: cased.join(''), id }
      })
    fc.assert(
      fc.property(anyCase, ({ name, id }) => {
        equal(fieldId(name), id)
        if (name.includes('-')) equal(fieldId(name.replace('-', '_')), field.twin)
        if (name.includes('-')) equal(fieldId(name.replace('-', '.')), field.twin)
      }),
    )
  })

  test('agrees with a naive model on any name', () => {
    const names = new Map(known.map(([name, id]) => [name.toLowerCase(), id]))
    const letter = fc.constantFrom('a', 'E', 'T', '-', '_', 'H', 'o', 's', 't', 'v', 'i')
    const name = fc.array(letter, { maxLength: 6 }).map(letters => letters.join(''))
    fc.assert(fc.property(name, name => equal(fieldId(name), names.get(name.toLowerCase()) ?? field.other)))
  })
})

describe('crosses', () => {
  const always = ['other', 'accept', 'contentType', 'date', 'contentEncoding', 'traceparent', 'tracestate']
  const inAnswers = [
    'twin',
    'host',
    'expect',
    'forwarded',
    'xForwardedFor',
    'xForwardedProto',
    'xForwardedHost',
    'xForwarded',
    'clientCertificate',
    'clientAddress',
    'otherTarget',
    'proxy',
    'via',
    'cdnLoop',
  ]
  for (const [name, id] of Object.entries(field)) {
    const isPassed = { request: always.includes(name), response: [...always, ...inAnswers].includes(name) }
    for (const kind of ['request', 'response'] as const) {
      const says = isPassed[kind] ? 'passes' : 'keeps from the next hop'
      test(`${says} ${name} of a ${kind}`, () => equal(crosses(id, kind), isPassed[kind]))
    }
  }
})

test('every name of an address, a target or a certificate is one, and docs/proxying.md has them all', () => {
  for (const name of addressNames) equal(fieldId(name), field.clientAddress, name)
  for (const name of [...targetNames, ...certificateNames]) equal(fieldId(name), field.otherTarget, name)
  const { text } = readPage('docs/proxying.md')
  const told = [...text.matchAll(/^Names under which only .*?: (.*)\.$/gm)].map(([, list = '']) => list)
  deepEqual(
    told,
    [addressNames, targetNames, certificateNames].map(names => names.map(name => `\`${name}\``).join(', ')),
  )
})

test('what only hops write tells of one', () => {
  const ofHop = [
    'forwarded',
    'xForwardedFor',
    'xForwardedProto',
    'xForwardedHost',
    'xForwarded',
    'clientAddress',
  ]
  const all = new Set([...ofHop, 'via', 'cdnLoop', 'ray', 'hop', 'twin'])
  for (const [name, id] of Object.entries(field)) equal(tellsOfHop(id), all.has(name), name)
})

test('an operator may set what crosses, the address of the client under any name, and another path', () => {
  const settable: readonly number[] = [field.clientAddress, field.otherTarget]
  for (const id of Object.values(field))
    equal(isSettable(id, 'request'), crosses(id, 'request') || settable.includes(id))
})

describe('crossingLines', () => {
  test('keeps order, case and repetition of what crosses', () => {
    const fields = ['X-B', '1', 'Host', 'a', 'x-a', '', 'Content-Length', '5', 'X-B', '2', 'ACCEPT', '*/*']
    equal(crossingLines(message(fields)), 'X-B: 1\r\nx-a: \r\nX-B: 2\r\nACCEPT: */*\r\n')
  })

  test('leaves alone what an origin says of the hops behind it', () => {
    const fields = ['Via', '1.1 cache', 'X_Forwarded_For', 'x', 'Content-Length', '5']
    const answer = { ...message(fields), kind: 'response' } as const
    equal(crossingLines(answer), 'Via: 1.1 cache\r\nX_Forwarded_For: x\r\n')
    equal(crossingLines(message(fields)), '')
  })

  test('leaves out what Connection names, in any case', () => {
    const fields = ['X-Mine', '1', 'X-Yours', '2', 'X-MINE', '3', 'Accept', '*/*']
    equal(crossingLines(message(fields, ['x-mine', 'accept'])), 'X-Yours: 2\r\n')
  })

  test('is no more work for ten thousand fields that ten thousand options name', () => {
    const names = Array.from({ length: 10_000 }, (_, i) => `x-${i}`)
    const fields = ['X-Last', '', ...names.flatMap(name => [name, ''])]
    equal(crossingLines(message(fields, names)), 'X-Last: \r\n')
  })
})

describe('equalsIgnoreCase', () => {
  test('ignores the case of letters', () => {
    equal(equalsIgnoreCase('ChunKed', 'chunked'), true)
    equal(equalsIgnoreCase('100-Continue', '100-continue'), true)
  })

  test('wants the same length and takes no twin for the name', () => {
    equal(equalsIgnoreCase('chunke', 'chunked'), false)
    equal(equalsIgnoreCase('chunkedd', 'chunked'), false)
    equal(equalsIgnoreCase('100_continue', '100-continue'), false)
  })

  test('takes no other letter for one of ASCII', () => {
    equal(equalsIgnoreCase('\u212aeep-alive', 'keep-alive'), false)
    equal(equalsIgnoreCase('keep\ralive', 'keep-alive'), false)
  })
})

describe('listHas', () => {
  const lists = [
    ['close', true],
    ['Close', true],
    ['keep-alive, close', true],
    ['keep-alive,close', true],
    ['close\t ,keep-alive', true],
    [', ,close', true],
    ['', false],
    [',', false],
    ['closed', false],
    ['enclose', false],
    ['close;q=1', false],
    ['"close"', false],
    ['keep-alive close', false],
  ] as const
  for (const [list, isIn] of lists)
    test(`finds ${isIn ? 'close' : 'no close'} in "${list}"`, () => equal(listHas(list, 'close'), isIn))
})

function message(fields: readonly string[], hopByHop: readonly string[] | null = null) {
  const ids = fields.filter((_, i) => i % 2 === 0).map(fieldId)
  const names = hopByHop === null ? null : new Set(hopByHop)
  return { kind: 'request', fields, ids, hopByHop: names } as const
}
