// What a gateway says of itself and of the client, and whose word it believes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, Edge, edgeConfig, listenAt, startEdge } from '../help/edge.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { ok, startResponder } from '../help/origin.ts'
import { chunks, request } from '../help/raw.ts'

const claims = [
  'X-Forwarded-For: 203.0.113.7',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Host: claimed.test',
  'Forwarded: for=203.0.113.7;proto=https',
]

test('the origin learns of the client, of the host it asked for, and of this hop', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  await edge.ask('GET / HTTP/1.1\r\nHost: Site.test:8080\r\n\r\n')
  const [received] = origin.requests
  assert.equal(received!.field('host'), 'Site.test:8080')
  assert.equal(received!.field('x-forwarded-for'), '127.0.0.1')
  assert.equal(received!.field('x-forwarded-proto'), 'http')
  assert.equal(received!.field('x-forwarded-host'), 'Site.test:8080')
  assert.equal(received!.field('forwarded'), 'for=127.0.0.1;host="Site.test:8080";proto=http')
  assert.equal(received!.field('via'), '1.1 gatehouse')
  assert.equal(received!.field('cdn-loop'), 'gatehouse')
})

test('forwarding headers of an untrusted client are replaced', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { trustedProxies: ['10.0.0.0/8'] })
  await edge.ask(request('GET /', ...claims, 'X-Forwarded-For: 203.0.113.8'))
  const [received] = origin.requests
  assert.equal(received!.field('x-forwarded-for'), '127.0.0.1')
  assert.equal(received!.field('x-forwarded-proto'), 'http')
  assert.equal(received!.field('x-forwarded-host'), 'site.test')
  assert.equal(received!.field('forwarded'), 'for=127.0.0.1;host=site.test;proto=http')
  assert.equal(edge.accesses[0]!.client, '127.0.0.1')
})

test('forwarding headers of a trusted proxy are extended', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { trustedProxies: ['127.0.0.2'] })
  const hop = await edge.connect('127.0.0.2')
  await hop.send(request('GET /', ...claims))
  await hop.response()
  const [received] = origin.requests
  assert.equal(received!.field('x-forwarded-for'), '203.0.113.7, 127.0.0.2')
  assert.equal(received!.field('x-forwarded-proto'), 'https')
  assert.equal(received!.field('x-forwarded-host'), 'claimed.test')
  assert.equal(
    received!.field('forwarded'),
    'for=203.0.113.7;host=claimed.test;proto=https, for=127.0.0.2;host=site.test;proto=http',
  )
  assert.equal(edge.accesses[0]!.client, '203.0.113.7')
})

const otherNames = [
  'X-Real-IP: 6.6.6.6',
  'x-client-ip: 6.6.6.6',
  'True-Client-IP: 6.6.6.6',
  'CF-Connecting-IP: 6.6.6.6',
  'Fastly-Client-IP: 6.6.6.6',
  'Client-IP: 6.6.6.6',
  'X-Cluster-Client-IP: 6.6.6.6',
  'X-Original-Forwarded-For: 6.6.6.6',
  'HTTP-Client-IP: 6.6.6.6',
  'HTTP-X-Forwarded: 6.6.6.6',
  'HTTP-X-Real-IP: 6.6.6.6',
  'X-Original-For: 6.6.6.6',
]
const others = [
  'CloudFront-Viewer-Address: 6.6.6.7:444',
  'X-Forwarded-Port: 444',
  'X-Forwarded-User: root',
  'X-Forwarded-Client-Cert: all',
]
const twins = [
  'X.Real.IP: 6.6.6.6',
  'X_Real_IP: 6.6.6.6',
  'X-Real_IP: 6.6.6.6',
  'X_Forwarded_Port: 1',
  'X-Forwarded_User: root',
]
const claiming = /real|cloudfront|client.?ip|connecting|x.forwarded.(?!for|proto|host)|original/i

test('client address fields under other names, and their underscore variants, are not accepted from untrusted clients', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  await edge.ask(request('GET /', ...otherNames, ...others, ...twins, 'X-Kept: 1'))
  const [received] = origin.requests
  assert.deepEqual(
    received!.lines.filter(line => claiming.test(line) || line.includes('6.6.6.6')),
    [],
  )
  assert.equal(received!.field('x-kept'), '1')
})

test('Proxy is accepted from no one', async t => {
  const origin = await startResponder(t, ok('', 'Proxy: passed'))
  const edge = await startEdge(t, [origin.url], { trustedProxies: ['127.0.0.2'] })
  for (const address of ['127.0.0.1', '127.0.0.2']) {
    const client = await edge.connect(address)
    await client.send(request('GET /', 'Proxy: http://evil.test:8080', 'pROXY: x'))
    assert.equal((await client.response()).field('proxy'), 'passed')
    assert.equal(origin.requests.at(-1)!.field('proxy'), null)
  }
})

test('all address fields from a trusted hop are rewritten to agree with the trusted one', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { trustedProxies: ['127.0.0.2', '10.0.0.0/8'] })
  const hop = await edge.connect('127.0.0.2')
  const chain = 'X-Forwarded-For: 6.6.6.6, 203.0.113.7, 10.0.0.1'
  const lie = 'Forwarded: for=6.6.6.6;proto=https;host=evil.test'
  await hop.send(request('GET /', chain, lie, ...otherNames, ...others, ...twins))
  await hop.response()
  const [received] = origin.requests
  assert.deepEqual(
    received!.lines.filter(line => claiming.test(line)).sort(),
    [...otherNames.map(line => line.replace('6.6.6.6', '203.0.113.7')), ...others.slice(1)].sort(),
  )
  // Many readers take the first member for the client.
  assert.equal(received!.field('x-forwarded-for'), '203.0.113.7, 10.0.0.1, 127.0.0.2')
  assert.equal(
    received!.field('forwarded'),
    'for=203.0.113.7, for=10.0.0.1, for=127.0.0.2;host=site.test;proto=http',
  )
})

test('if Forwarded is trusted, the other fields are made consistent with it', async t => {
  const origin = await startResponder(t, ok())
  const trustedProxies = ['127.0.0.2', '10.0.0.0/8', 'fd00::/8']
  const edge = await startEdge(t, [origin.url], { trustedProxies, clientAddress: 'forwarded' })
  const hop = await edge.connect('127.0.0.2')
  const told =
    'for=6.6.6.6;proto=http, for="[2001:db8::7]:80";proto=https;host="shop.test:444", for="[fd00::1]"'
  await hop.send(
    request('GET /', `Forwarded: ${told}`, ...claims.slice(0, 3), 'X-Real-IP: 6.6.6.6', ...others),
  )
  await hop.response()
  const [received] = origin.requests
  assert.equal(
    received!.field('forwarded'),
    'for="[2001:db8::7]";host="shop.test:444";proto=https, for="[fd00::1]", for=127.0.0.2;host=site.test;proto=http',
  )
  assert.equal(received!.field('x-forwarded-for'), '2001:db8::7, fd00::1, 127.0.0.2')
  assert.equal(received!.field('x-forwarded-proto'), 'https')
  assert.equal(received!.field('x-forwarded-host'), 'shop.test:444')
  assert.equal(received!.field('x-real-ip'), '2001:db8::7')
  for (const line of others) assert.equal(received!.field(line.slice(0, line.indexOf(':'))), null)
  assert.equal(edge.accesses[0]!.client, '2001:db8::7')
  await hop.send(request('GET /', ...claims.slice(0, 3)))
  await hop.response()
  assert.equal(origin.requests[1]!.field('x-forwarded-for'), '127.0.0.2')
  assert.equal(origin.requests[1]!.field('forwarded'), 'for=127.0.0.2;host=site.test;proto=http')
})

const unusual: readonly (readonly [came: string, scheme: string, lines: readonly string[]])[] = [
  ['https, http', 'http', ['X-Forwarded-Ssl: off', 'Front-End-Https: off', 'WL-Proxy-SSL: false']],
  ['http,https', 'https', ['X-Forwarded-Ssl: on', 'Front-End-Https: on', 'WL-Proxy-SSL: true']],
  ['javascript', 'http', ['X-Forwarded-Ssl: off', 'Front-End-Https: off', 'WL-Proxy-SSL: false']],
  ['wss', 'https', ['X-Forwarded-Ssl: on', 'Front-End-Https: on', 'WL-Proxy-SSL: true']],
]
for (const [came, scheme, lines] of unusual)
  test(`X-Forwarded-Proto: ${came} of a trusted hop is written as ${scheme}, and so is each other field`, async t => {
    const origin = await startResponder(t, ok())
    const edge = await startEdge(t, [origin.url], { trustedProxies: ['127.0.0.2'] })
    const hop = await edge.connect('127.0.0.2')
    const others = [
      'X-Forwarded-Scheme: https, http',
      'X-Url-Scheme: javascript',
      'CF-Visitor: {"scheme":"https"}',
    ]
    const words = ['X-Forwarded-Ssl: on, off', 'Front-End-Https: on', 'WL-Proxy-SSL: true']
    const fields = [`X-Forwarded-Proto: ${came}`, ...others, ...words]
    for (const first of ['X-Forwarded-For: 203.0.113.7', 'X-None: 1']) {
      await hop.send(request('GET /', first, ...fields))
      await hop.response()
      const received = origin.requests.at(-1)!
      assert.deepEqual(received.all('x-forwarded-proto'), [scheme])
      assert.deepEqual(received.all('x-forwarded-scheme'), [scheme])
      assert.deepEqual(received.all('x-url-scheme'), [scheme])
      assert.deepEqual(received.all('cf-visitor'), [`{"scheme":"${scheme}"}`])
      assert.match(received.field('forwarded')!, new RegExp(`^[^,]*;proto=${scheme}(?:,|$)`))
      for (const line of lines) assert.ok(received.lines.includes(line), line)
    }
  })

test('the origin gets the decided host and port, too', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { trustedProxies: ['127.0.0.2'] })
  const hop = await edge.connect('127.0.0.2')
  const told = async (...fields: string[]) => {
    await hop.send(request('GET /', 'X-Forwarded-For: 203.0.113.7', ...fields))
    await hop.response()
    const { lines } = origin.requests.at(-1)!
    return lines.filter(line => /^(?:x-(?:forwarded-(?:host|port)|host)|forwarded):/i.test(line))
  }
  assert.deepEqual(
    await told('X-Forwarded-Host: evil.test, shop.test:444', 'X-Forwarded-Port: 1, 443', 'X-Host: evil.test'),
    [
      'X-Forwarded-Host: shop.test:444',
      'Forwarded: for=203.0.113.7;host="shop.test:444", for=127.0.0.2;host=site.test;proto=http',
      'X-Forwarded-Port: 444',
      'X-Host: shop.test:444',
    ],
  )
  assert.deepEqual(await told('X-Forwarded-Host: "><script>', 'X-Forwarded-Port: 1, 443', 'X-Host: a b'), [
    'X-Forwarded-Host: site.test',
    'Forwarded: for=203.0.113.7, for=127.0.0.2;host=site.test;proto=http',
    'X-Forwarded-Port: 443',
  ])
  assert.deepEqual((await told('X-Forwarded-Port: 443x', 'X-Host: shop.test')).slice(2), [
    'X-Host: shop.test',
  ])
})

/** What strangers could say of a certificate, and trusted hops may. */
const certificates = [
  'X-SSL-Client-Verify: SUCCESS',
  'X-SSL-Client-SHA1: a',
  'X-SSL-Client-Subject: CN=root',
  'X-SSL-Client-NotBefore: a',
  'X-SSL-Cert: a',
  'SSL_CLIENT_S_DN: CN=root',
  'SSL_CLIENT_I_DN: CN=root',
  'X-Client-Cert-Present: true',
  'X-Client-Cert-Hash: a',
  'X-Client-Cert-Subject-DN: CN=root',
  'X-Client-Cert-Chain-Verified: true',
  'Cf-Cert-Verified: true',
  'WL-Proxy-Client-Cert: a',
  'X-ARR-ClientCert: a',
  'X-Amzn-Mtls-Clientcert: a',
  'X-TLS-Client-Subject: CN=root',
  'X-Forwarded-Tls-Client-Cert: a',
]

test('the certificate of a client is told by trusted hops alone, under whatever name', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { trustedProxies: ['127.0.0.2'] })
  for (const from of ['127.0.0.1', '127.0.0.2']) {
    const client = await edge.connect(from)
    await client.send(request('GET /', ...certificates))
    await client.response()
  }
  const [stranger, trusted] = origin.requests
  const ofCertificate = /ssl|cert|tls/i
  assert.deepEqual(
    [stranger, trusted].map(received => received!.lines.filter(line => ofCertificate.test(line))),
    [[], certificates],
  )
})

test('a certificate in two spellings is told by nobody: one may be of the client of a trusted hop', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { trustedProxies: ['127.0.0.2'] })
  const hop = await edge.connect('127.0.0.2')
  const lines = [
    'SSL_CLIENT_VERIFY: NONE',
    'SSL-Client-Verify: SUCCESS',
    'X-SSL-Client-S-DN: a',
    'x-ssl-client-s-dn: b',
  ]
  await hop.send(request('GET /', ...lines))
  await hop.response()
  assert.deepEqual(
    origin.requests[0]!.lines.filter(line => /ssl/i.test(line)),
    lines.slice(2),
  )
})

test('a certificate comes neither in trailers, nor over HTTP/2, nor to the origin of a WebSocket', async t => {
  const origin = await startResponder(t, ok())
  const edge = await listenAt(t, new Edge(t, edgeConfig([origin.url], { h2c: true })))
  const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  const fields = Object.fromEntries(certificates.map(line => line.toLowerCase().split(': ')))
  await ask(session, fields)
  const client = await edge.connect()
  const trailers = certificates.map(line => `${line}\r\n`).join('')
  await client.send(`${request('POST /', 'Transfer-Encoding: chunked')}${chunks('hi')}0\r\n${trailers}\r\n`)
  await client.response()
  await client.send(
    request(
      'GET /',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ...certificates,
    ),
  )
  await client.response()
  assert.equal(origin.requests.length, 3)
  for (const { lines, trailers } of origin.requests)
    assert.deepEqual(
      [...lines, ...trailers].filter(line => /ssl|cert|tls/i.test(line)),
      [],
    )
})

test('an ambiguous Forwarded is refused where it is trusted', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { trustedProxies: ['127.0.0.2'], clientAddress: 'forwarded' })
  const hop = await edge.connect('127.0.0.2')
  await hop.send(request('GET /', 'Forwarded: for="', 'Forwarded: for=203.0.113.7'))
  assert.equal((await hop.response()).status, 400)
  assert.equal(origin.requests.length, 0)
  const stranger = await edge.connect('127.0.0.1')
  await stranger.send(request('GET /', 'Forwarded: for="'))
  assert.equal((await stranger.response()).status, 200)
})

test('a trusted hop without these fields is treated like any client', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { trustedProxies: ['127.0.0.0/8'] })
  await edge.ask(request('GET /'))
  assert.equal(origin.requests[0]!.field('x-forwarded-for'), '127.0.0.1')
  assert.equal(origin.requests[0]!.field('x-forwarded-proto'), 'http')
})

test('earlier hops in Via and CDN-Loop stay, whoever sent them', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { name: 'here' })
  await edge.ask(request('GET /', 'Via: 1.0 a', 'CDN-Loop: a; x="y"', 'Via: 1.1 b (c)', 'CDN-Loop: b'))
  const [received] = origin.requests
  assert.equal(received!.field('via'), '1.0 a, 1.1 b (c), 1.1 here')
  assert.equal(received!.field('cdn-loop'), 'a; x="y", b, here')
})

test('a request that passed this gateway before is a loop', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { name: 'Here' })
  for (const hops of ['here', 'a, HERE; v=1', 'a;x="y", here ;z']) {
    const answer = await edge.ask(request('GET /', `CDN-Loop: ${hops}`, 'Accept: application/json'))
    assert.equal(codeOf(answer), 1000, hops)
  }
  assert.equal((await edge.ask(request('GET /', 'CDN-Loop: here-not, nowhere; here'))).status, 200)
  assert.equal(origin.requests.length, 1)
})

test('a gateway that points at itself does not even begin the loop', async t => {
  const edge = await startEdge(t, [])
  edge.reload(edgeConfig([`http://127.0.0.1:${edge.port}`]))
  const answer = await edge.ask(request('GET /', 'Accept: application/json'))
  assert.equal(JSON.parse(answer.text).error_code, 1000)
  assert.equal(edge.accesses.length, 1)
})

test('every response has a ray of its own, the same as at the origin and in the log', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const rays = new Set<string>()
  for (let i = 0; i < 5; i++)
    rays.add((await edge.ask(request('GET /', 'svc-ray: 0123456789abcdef'))).field('svc-ray')!)
  assert.equal(rays.size, 5)
  for (const ray of rays) assert.match(ray, /^[0-9a-f]{16}$/)
  assert.deepEqual(
    [...rays],
    origin.requests.map(request => request.field('svc-ray')),
  )
  assert.deepEqual(
    [...rays],
    edge.accesses.map(({ ray }) => ray),
  )
})

test('a ray set by the origin is replaced', async t => {
  const origin = await startResponder(t, ok('', 'svc-ray: ffffffffffffffff', 'SVC-Ray: 0'))
  const edge = await startEdge(t, [origin.url])
  const answer = await edge.ask(request('GET /'))
  assert.equal(answer.field('svc-ray'), origin.requests[0]!.field('svc-ray'))
})

test('the origin gets the Host of its route', async t => {
  const origin = await startResponder(t, ok())
  for (const [host, expected] of [
    ['preserve', 'site.test'],
    ['origin', `127.0.0.1:${origin.port}`],
    [{ name: 'inner.test' }, 'inner.test'],
  ] as const) {
    const edge = await startEdge(t, [origin.url], { route: { host } })
    await edge.ask(request('GET /'))
    assert.equal(origin.requests.at(-1)!.field('host'), expected)
    assert.equal(origin.requests.at(-1)!.field('x-forwarded-host'), 'site.test')
  }
})

test('a kept connection loses the trust that a reload withdraws', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { trustedProxies: ['127.0.0.1'] })
  const client = await edge.connect()
  const spoofed = request('GET /', 'X-Forwarded-For: 6.6.6.6')
  await client.send(spoofed)
  await client.response()
  edge.reload(edgeConfig([origin.url]))
  await client.send(spoofed)
  await client.response()
  const seen = origin.requests.map(message => message.field('x-forwarded-for'))
  assert.deepEqual(seen, ['6.6.6.6, 127.0.0.1', '127.0.0.1'])
})

test('a field with another path, host or scheme is accepted only from trusted hops: no rule would have seen it', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { trustedProxies: ['127.0.0.2'] })
  const lines = [
    'X-Original-URL: /admin',
    'x-rewrite-url: /admin',
    'X-Original-URI: /admin',
    'X-Original-Host: admin.test',
    'X-Host: admin.test',
    'X-HTTP-Host-Override: admin.test',
    'X-Scheme: https',
    'Front-End-Https: on',
    'CF-Visitor: {"scheme":"https"}',
  ]
  const reported = 'X-Forwarded-Proto: https'
  for (const from of ['127.0.0.1', '127.0.0.2']) {
    const client = await edge.connect(from)
    await client.send(request('GET /', ...lines, reported, 'X_Original_URL: /admin', 'X_Host: admin.test'))
    await client.response()
  }
  const [stranger, trusted] = origin.requests
  const paths = /^(?:x.(?:original|rewrite|http|scheme|host)|front|cf)/i
  assert.deepEqual(
    [stranger, trusted].map(received => received!.lines.filter(line => paths.test(line))),
    [[], lines],
  )
})

test('OPTIONS passes as many hops as it may, and no more', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const options = (...fields: string[]) => edge.ask(request('OPTIONS /', ...fields))
  const last = await options('Max-Forwards: 0')
  assert.equal(last.status, 204)
  assert.equal(last.field('svc-ray')?.length, 16)
  assert.equal(origin.requests.length, 0)
  assert.equal(edge.accesses[0]!.status, 204)
  for (const [given, left] of [
    ['5', '4'],
    ['1', '0'],
    ['99999999999999999999', '9007199254740990'],
    ['-1', '-1'],
    ['many', 'many'],
  ]) {
    assert.equal((await options(`max-forwards: ${given}`)).status, 200)
    assert.equal(origin.requests.at(-1)!.field('max-forwards'), left)
  }
  assert.equal((await options('Max-Forwards: 3', 'Max-Forwards: 9')).status, 200)
  assert.equal(origin.requests.at(-1)!.field('max-forwards'), '2')
  await edge.ask(request('GET /', 'Max-Forwards: 0'))
  assert.equal(origin.requests.at(-1)!.field('max-forwards'), '0')
})
