import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { SidePortAuth } from '../../../src/net/http/side-port-auth.ts'
import { outboundHead } from '../../../src/edge/forward/outbound-request.ts'
import { headText } from '../../../src/edge/origin/outbound-head.ts'
import type { EdgeSettings } from '../../help/edge.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

const origin = 'http://127.0.0.1:8080'

/** Tells the head that an origin gets, line by line, but for the ray. */
function linesFor(t: TestContext, text: string, settings: EdgeSettings = {}, peer?: string): string[] {
  const x = stepsOver(t, [origin], settings).located(text, peer)
  const lines = headText(outboundHead(x, '127.0.0.1')).split('\r\n')
  assert.deepEqual(lines.slice(-3), [`svc-ray: ${x.ray}`, '', ''])
  return lines.slice(0, -3)
}

test('a request is sent as it came, without hop-by-hop fields and with those of the gateway', t => {
  const text = request(
    'POST /a?b=1',
    'Accept: */*',
    'Connection: X-Mine, close',
    'X-Mine: ends here',
    'Keep-Alive: timeout=5',
    'TE: trailers',
    'Content-Length: 3',
    'X-Forwarded-For: 203.0.113.7',
    'X-Real-IP: 203.0.113.7',
    'svc-hop: forged',
    'X-Other: stays',
  )
  assert.deepEqual(linesFor(t, text, { name: 'gate' }), [
    'POST /a?b=1 HTTP/1.1',
    'Host: site.test',
    'Accept: */*',
    'X-Other: stays',
    'Content-Length: 3',
    'X-Forwarded-For: 192.0.2.1',
    'X-Forwarded-Proto: http',
    'X-Forwarded-Host: site.test',
    'Forwarded: for=192.0.2.1;host=site.test;proto=http',
    'Via: 1.1 gate',
    'CDN-Loop: gate',
  ])
})

test('forwarding headers of a trusted proxy are passed on with that proxy added', t => {
  const text = request(
    'GET /',
    'X-Forwarded-For: 203.0.113.7',
    'X-Forwarded-Proto: https',
    'X-Real-IP: 198.51.100.1',
  )
  const lines = linesFor(t, text, { trustedProxies: ['192.0.2.1'] })
  assert.ok(lines.includes('X-Forwarded-For: 203.0.113.7, 192.0.2.1'))
  assert.ok(lines.includes('X-Forwarded-Proto: https'))
  assert.ok(lines.includes('X-Real-IP: 203.0.113.7'))
})

test('fields that Connection names are not passed on, in either direction', t => {
  const text = request(
    'GET /',
    'Connection: X-Real-IP, X-Original-URL',
    'X-Real-IP: 1.2.3.4',
    'X-Original-URL: /x',
  )
  const lines = linesFor(t, text, { trustedProxies: ['192.0.2.1'] })
  assert.deepEqual(
    lines.filter(line => /^x-(real|original)/i.test(line)),
    [],
  )
})

test('the Host is that of the client, of the origin, or one that is set', t => {
  for (const [host, line] of [
    ['preserve', 'Host: Site.test:80'],
    ['origin', 'Host: 127.0.0.1:8080'],
    [{ name: 'other.test' }, 'Host: other.test'],
  ] as const) {
    const lines = linesFor(t, 'GET / HTTP/1.1\r\nHost: Site.test:80\r\n\r\n', { route: { host } })
    assert.deepEqual(
      lines.filter(line => line.startsWith('Host:')),
      [line],
    )
  }
  const bare = linesFor(t, 'GET / HTTP/1.0\r\n\r\n', { zone: { hosts: ['site.test'], isDefault: true } })
  assert.equal(bare[1], 'Host: 127.0.0.1:8080')
})

test('the body is framed as it came, once', t => {
  for (const [framing, line] of [
    ['Content-Length: 7', 'Content-Length: 7'],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
  ] as const) {
    const lines = linesFor(t, request('POST /', framing))
    assert.deepEqual(
      lines.filter(line => /^(content-length|transfer-encoding)/i.test(line)),
      [line],
    )
  }
  assert.ok(!linesFor(t, request('GET /')).some(line => /^(content-length|transfer-encoding)/i.test(line)))
})

test('hops are added to those before', t => {
  const text = request('GET /', 'Via: 1.1 first', 'CDN-Loop: first; a=1', 'CDN-Loop: second')
  const lines = linesFor(t, text, { name: 'gate' })
  assert.deepEqual(lines.slice(-2), ['Via: 1.1 first, 1.1 gate', 'CDN-Loop: first; a=1, second, gate'])
  assert.ok(linesFor(t, 'GET / HTTP/1.0\r\nHost: site.test\r\n\r\n').includes('Via: 1.0 gatehouse'))
})

test('a client is vouched for at the side port of this gateway, and nowhere else', t => {
  const secret = Buffer.alloc(32, 7)
  const sidePortAuth = new SidePortAuth(secret)
  for (const [port, issuerPort, address, isOurs] of [
    [8080, null, '127.0.0.1', true],
    [8080, null, '127.0.0.2', false],
    [8080, null, '203.0.113.9', false],
    [8081, null, '127.0.0.1', false],
    [8081, 8080, '127.0.0.1', true],
    [8081, 8080, '127.0.0.2', false],
    [8081, 8082, '127.0.0.1', false],
  ] as const) {
    const issuer = issuerPort && { host: '127.0.0.1', port: issuerPort }
    const sidePort = { endpoint: { host: '127.0.0.1', port }, issuer, secret }
    const x = stepsOver(t, [origin], {}, sidePort).located(
      request('GET /', 'svc-hop: forged', 'Cookie: a=1; gatehouse=s'),
    )
    const text = headText(outboundHead(x, address)).replaceAll('\r', '')
    const hops = /^svc-hop: (.*)$/gm.exec(text)
    assert.deepEqual(
      hops && sidePortAuth.read(hops[1]!),
      isOurs ? { address: '192.0.2.1', ray: x.ray } : null,
    )
    assert.equal(/^Cookie: (.*)$/m.exec(text)![1], isOurs ? 'a=1; gatehouse=s' : 'a=1')
    assert.equal(x.isToSidePort, isOurs)
  }
})

test('a repeated head goes on as before, with a ray of its own, until something else has changed', t => {
  const text = request('GET /a', 'X-A: 1')
  const first = stepsOver(t, [origin], { name: 'gate' }).located(text)
  const { client, head } = first
  const textFor = (x: typeof first) => {
    const sent = headText(outboundHead(Object.assign(x, { client, head, outgoing: head }), '127.0.0.1'))
    assert.ok(sent.endsWith(`svc-ray: ${x.ray}\r\n\r\n`))
    return sent.slice(0, sent.indexOf('svc-ray'))
  }
  const expected = textFor(first)
  head.repeated()
  for (let i = 0; i < 3; i++)
    assert.equal(textFor(stepsOver(t, [origin], { name: 'gate' }).located(text)), expected)
  const x = first
  for (let i = 0; i < 3; i++) assert.equal(textFor(x), expected)
  const { request: shared } = outboundHead(x, '127.0.0.1')
  assert.equal(outboundHead(x, '127.0.0.1').request, shared)
  const other = stepsOver(t, [origin], { name: 'other' }).located(text)
  assert.equal(textFor(other), expected.replaceAll('gate', 'other'))
  assert.equal(textFor(x), expected)
  const moved = stepsOver(t, ['http://127.0.0.1:9090'], { name: 'gate' }).located(text)
  assert.notEqual(outboundHead(Object.assign(moved, { client, head, outgoing: head }), '').request, shared)
})

test('whatever a client sends, its head goes on as one head with one Host and one framing', t => {
  const steps = stepsOver(t, [origin], { zone: { hosts: ['site.test'], isDefault: true } })
  const name = fc.constantFrom(
    'X-A',
    'Connection',
    'Transfer_Encoding',
    'Content.Length',
    'Keep-Alive',
    'Via',
  )
  const value = fc.string({ unit: fc.constantFrom('a', ',', ' ', ';', 'host', '\x80', 'x-a'), maxLength: 8 })
  const fields = fc.array(
    fc.tuple(name, value).map(([name, value]) => `${name}: ${value}`),
    { maxLength: 8 },
  )
  fc.assert(
    fc.property(fields, fields => {
      const x = steps.located(request('POST /x', ...fields, 'Content-Length: 1'))
      const text = headText(outboundHead(x, '127.0.0.1'))
      assert.equal(text.indexOf('\r\n\r\n'), text.length - 4)
      const names = text
        .split('\r\n')
        .slice(1, -2)
        .map(line => line.split(':')[0]!.toLowerCase())
      for (const once of ['host', 'content-length', 'forwarded', 'x-forwarded-for', 'svc-ray'])
        assert.equal(names.filter(name => name === once).length, 1, once)
      for (const never of [
        'connection',
        'keep-alive',
        'transfer_encoding',
        'content.length',
        'transfer-encoding',
      ])
        assert.ok(!names.includes(never), never)
    }),
  )
})
