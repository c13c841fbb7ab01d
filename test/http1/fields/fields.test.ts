import { deepEqual, equal } from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Claim, claimedNames } from '../../../src/http1/fields/claimed-names.ts'
import {
  crosses,
  crossingLines,
  equalsIgnoreCase,
  field,
  fieldId,
  firstValue,
  isClaim,
  isSettable,
  listHas,
  tellsOfHop,
} from '../../../src/http1/fields/fields.ts'
import { readPage } from '../../help/docs.ts'
import { root } from '../../help/source.ts'

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
    ['svc-identity', field.identity],
    ['SVC-Identity', field.identity],
    ['svc-identity-email', field.identity],
    ['X-Original-URL', field.otherPath],
    ['X-Rewrite-URL', field.otherPath],
    ['CloudFront-Viewer-Address', field.clientEndpoint],
    ['X-Forwarded-Port', field.claimedPort],
    ['X-Forwarded-Scheme', field.claimedScheme],
    ['Front-End-Https', field.claimedSecurity],
    ['X-Host', field.claimedHost],
    ['X-Forwarded-Prefix', field.xForwarded],
    ['Forwarded-By', field.xForwarded],
    ['HTTP-X-Forwarded-User', field.xForwarded],
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
    ['Cookie', field.cookie],
    ['SET-COOKIE', field.setCookie],
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
    'forwarded-',
    'X-Client-Version',
    'X-Client-Data',
    'X-Client-DNT',
    'X-Client-Fingerprint',
    'Certificate',
    'X-TL',
    'SS',
    'CF-Ray',
    'Cloudfront-Viewer-Country',
    'Proxy-Status',
    'svc-identities',
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
      'svc_identity',
      'Svc.Identity',
      'Svc_Identity_Email',
      'svc-identity.email',
      'x-real_ip',
      'CF_Connecting-IP',
      'X_Forwarded_Port',
      'X-Forwarded-Client_Cert',
      'x.forwarded.for',
      'X-Real~IP',
      'Content.Length',
      'X.Forwarded-Port',
      'X-Forwarded-*',
      'X-Forwarded-Client.Cert',
    ])
      equal(fieldId(name), field.twin)
  })

  test('takes whatever begins like the fields of a certificate for one, in any spelling', () => {
    for (const name of certificates) {
      equal(fieldId(name), field.claimedCertificate, name)
      equal(fieldId(name.toUpperCase()), field.claimedCertificate, name)
      equal(fieldId(name.replaceAll('-', '_')), field.claimedCertificate, name)
      equal(fieldId(name.replaceAll('_', '-')), field.claimedCertificate, name)
      equal(fieldId(name.replace('-', '.')), field.claimedCertificate, name)
    }
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
      'contentAlength',
      'contentZlength',
      'content0length',
      'content9length',
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

/** As proxies, CDNs and hosts have them. */
const certificates = [
  'X-SSL-Client-Cert',
  'X-SSL-Client-Verify',
  'X-SSL-Client-SHA1',
  'X-SSL-Client-Subject',
  'X-SSL-Client-Issuer',
  'X-SSL-Client-NotBefore',
  'X-SSL-Cert',
  'X-SSL',
  'SSL_CLIENT_S_DN',
  'SSL_CLIENT_I_DN',
  'SSL_CLIENT_CERT_CHAIN_0',
  'SSL-Client-Subject-DN',
  'SSLClientCertStatus',
  'X-Client-Cert',
  'X-Client-Cert-Present',
  'X-Client-Cert-Hash',
  'X-Client-Cert-Subject-DN',
  'X-Client-Cert-Chain-Verified',
  'X-Client-Certificate',
  'X-Client-Verify',
  'X-Client-Verified',
  'X-Client-DN',
  'X-Client-DN-Short',
  'X-Client-S-DN',
  'X-Client-CN',
  'X-Client-Subject',
  'X-Client-Issuer',
  'X-Client-Serial',
  'X-Subject-DN',
  'X-Issuer-DN',
  'X-ClientCert',
  'X-ClientCert-DN',
  'ClientCert',
  'Peer-Certificate',
  'Client-Cert-Subject',
  'Client-Certificate',
  'X-ARR-ClientCert',
  'X-ARR-SSL',
  'X-Amzn-Mtls-Clientcert-Leaf',
  'X-Amzn-Tls-Version',
  'X-MS-Client-Certificate',
  'X-Azure-ClientCert',
  'X-TLS-Client-Subject',
  'TLS-Client-Cert',
  'Cf-Cert-Verified',
  'Cf-Client-Cert-Der-Base64',
  'CloudFront-Viewer-Cert-Subject',
  'CloudFront-Viewer-TLS',
  'WL-Proxy-Client-Cert',
  'WL-Proxy-Client-Keysize',
  'Proxy-Client-Cert',
  'Proxy-User-DN',
  '$WSCC',
]

/** The fields of `isClaim`, but for another path. */
const claims = [
  'claimedCertificate',
  'clientAddress',
  'clientEndpoint',
  'claimedScheme',
  'claimedSecurity',
  'claimedPort',
  'claimedHost',
]

describe('crosses', () => {
  const always = [
    'other',
    'accept',
    'contentType',
    'date',
    'contentEncoding',
    'cookie',
    'setCookie',
    'authorization',
    'wwwAuthenticate',
    'persistentAuth',
    'traceparent',
    'tracestate',
  ]
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
    'identity',
    'otherPath',
    'proxy',
    ...claims,
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

test('every name in which proxies tell of a client is known, and docs/proxying.md has them all', () => {
  const ids = new Set<number>()
  for (const claim of Object.keys(claimedNames) as Claim[]) {
    const found = claimedNames[claim].map(name => fieldId(name.replace('*', 'x')))
    equal(new Set(found).size, 1, claim)
    ids.add(found[0]!)
  }
  deepEqual(ids, new Set(Object.values(field).filter(id => isClaim(id) || id === field.xForwarded)))
  const { path, text } = readPage('docs/proxying.md')
  const rows = (Object.keys(claimedNames) as Claim[]).map(claim => {
    const names = claimedNames[claim].map(name => `\`${name}\``).join(', ')
    return `| ${told[claim].join(' | ')} | ${names} |`
  })
  const table = [head, '|---|---|---|', ...rows, ''].join('\n')
  const at = text.indexOf(head)
  const after = text.indexOf('\n\n', at) + 1
  const written = text.slice(0, at) + table + text.slice(after)
  if (process.env.WRITE_DOCS) writeFileSync(join(root, path), written)
  else equal(text, written)
})

const head = '| information | from a trusted proxy | names |'

/** What each kind of claim tells, and what becomes of that of a trusted proxy. */
const told: Readonly<Record<Claim, readonly [string, string]>> = {
  address: ['the address of the client', 'written as the address that is believed'],
  endpoint: ['its address and port', 'passes if its address is the one that is believed; otherwise removed'],
  scheme: ['its scheme', 'written as the scheme that is believed'],
  security: ['whether it used https', 'written to agree with that scheme, in the words of the proxy'],
  port: [
    'the port that it asked for',
    'the port of the host that is believed, if it names one; otherwise the last member, or removed if that is no port; removed with `client_address: forwarded`',
  ],
  host: [
    'the host that it asked for',
    'written as the host that is believed; if the believed field names none, passes, or is removed if it is no host',
  ],
  path: ['the path that it asked for', 'passes'],
  certificate: [
    'its certificate, and the TLS of its connection',
    'passes, unless it comes in two spellings: then both are removed',
  ],
  rest: ['anything else', 'passes; removed with `client_address: forwarded`'],
}

test('what only hops write tells of one', () => {
  const ofHop = [
    'forwarded',
    'xForwardedFor',
    'xForwardedProto',
    'xForwardedHost',
    'xForwarded',
    ...claims.filter(name => name !== 'claimedCertificate'),
  ]
  const all = new Set([...ofHop, 'via', 'cdnLoop', 'ray', 'hop', 'twin'])
  for (const [name, id] of Object.entries(field)) equal(tellsOfHop(id), all.has(name), name)
})

test('an operator may set what crosses, and what proxies tell of a client', () => {
  for (const [name, id] of Object.entries(field))
    equal(isSettable(id, 'request'), crosses(id, 'request') || [...claims, 'otherPath'].includes(name))
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

  test('keeps cookies of this gateway from other servers, and those of other servers from its pages', () => {
    const fields = ['Cookie', 'a=1; gatehouse=s', 'Set-Cookie', 'gatehouse=s; Path=/', 'Set-Cookie', 'b=2']
    const abroad = 'Cookie: a=1\r\nSet-Cookie: b=2\r\n'
    const atHome = 'Cookie: a=1; gatehouse=s\r\nSet-Cookie: gatehouse=s; Path=/\r\nSet-Cookie: b=2\r\n'
    for (const kind of ['request', 'response'] as const) {
      equal(crossingLines({ ...message(fields), kind }), abroad)
      equal(crossingLines({ ...message(fields), kind }, false), abroad)
      equal(crossingLines({ ...message(fields), kind }, true, true), atHome)
    }
    equal(crossingLines(message(['Cookie', 'gatehouse=s'])), '')
  })

  test('leaves out the trace where it is not wanted, whose state may have any key', () => {
    const fields = ['traceparent', '00-a', 'X', '1', 'tracestate', 'gatehouse=s']
    equal(crossingLines(message(fields), false), 'X: 1\r\n')
    equal(crossingLines(message(fields)), 'traceparent: 00-a\r\nX: 1\r\ntracestate: gatehouse=s\r\n')
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
    equal(equalsIgnoreCase('gate^house', 'gate~house'), false)
  })
})

test('the value of a field is that of its first line', () => {
  const fields = ['A', '1', 'b', 'a', 'B', '3']
  equal(firstValue(fields, 'a'), '1')
  equal(firstValue(fields, 'b'), 'a')
  equal(firstValue(fields, 'c'), null)
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
    ['\xa0close', false],
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
