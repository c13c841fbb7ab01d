// What zones ask of connections, over real ones.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { type ConnectionOptions, connect } from 'node:tls'
import type { ZoneTls } from '../../../src/config/model/config.ts'
import { Authority } from '../../help/certificates.ts'
import { codeOf, Edge, type EdgeSettings, edgeConfig, listenAt, zoneTo } from '../../help/edge.ts'
import { ok, startResponder } from '../../help/origin.ts'
import { connectTo, type Message, post, request, Wire } from '../../help/raw.ts'

const authority = new Authority()
const identity = authority.issue(['site.test', 'also.test', 'other.test', 'ai.test', '127.0.0.1'])
const asks: ZoneTls = {
  redirect: false,
  hsts: null,
  minVersion: 'TLSv1.2',
  ciphers: [],
  fips: false,
  client: null,
}

interface Settings extends EdgeSettings {
  readonly asks?: Partial<ZoneTls>
  readonly response?: string
}

async function start(t: TestContext, { asks: asked, response = ok('hello'), ...settings }: Settings = {}) {
  const origin = await startResponder(t, () => response)
  const zone = { hosts: ['site.test', 'also.test', '2001:db8::1'], tls: { ...asks, ...asked } }
  const other = { ...zoneTo([origin.url]), name: 'other', hosts: ['other.test'] }
  const config = {
    ...edgeConfig([origin.url], { ...settings, zone, zones: [other], ai: { hosts: ['ai.test'] } }),
    listen: [false, true].map(tls => ({ host: '127.0.0.1', port: 0, tls })),
    tls: { certificates: [identity], minVersion: 'TLSv1.2' } as const,
  }
  const edge = await listenAt(t, new Edge(t, config))
  const secure = edge.plane.securePort
  const ask = async (text: string, options: ConnectionOptions = {}): Promise<Message> => {
    const given = {
      host: '127.0.0.1',
      port: secure,
      ca: authority.certificate,
      servername: 'site.test',
      ...options,
    }
    const socket = connect(given)
    t.after(() => socket.destroy())
    await once(socket, 'secureConnect')
    const wire = new Wire(socket)
    await wire.send(text)
    return wire.response()
  }
  const askPlainly = async (text: string): Promise<Message> => {
    const wire = await connectTo(t, edge.port)
    await wire.send(text)
    return wire.response(/^[A-Z]+/.exec(text)![0])
  }
  return { edge, origin, secure, ask, askPlainly }
}

const json = 'Accept: application/json'
const to = (host: string, line = 'GET /') => `${line} HTTP/1.1\r\nHost: ${host}\r\n${json}\r\n\r\n`

test('plain HTTP is redirected where the zone wants https: the same host, path and query, and nothing reaches the origin', async t => {
  const { edge, origin, secure, askPlainly, ask } = await start(t, { asks: { redirect: true } })
  const locations: readonly [string, string][] = [
    [request('GET /a?b=c%20d'), `https://site.test:${secure}/a?b=c%20d`],
    [to('ALSO.test:80', 'HEAD /'), `https://also.test:${secure}/`],
    [to('[2001:db8::1]'), `https://[2001:db8::1]:${secure}/`],
    ['GET http://site.test/x HTTP/1.1\r\nHost: site.test\r\n\r\n', `https://site.test:${secure}/x`],
    ['OPTIONS * HTTP/1.1\r\nHost: site.test\r\n\r\n', `https://site.test:${secure}/`],
    [request('GET //evil.test/x'), `https://site.test:${secure}//evil.test/x`],
    [post('/form', 'a=b'), `https://site.test:${secure}/form`],
  ]
  for (const [text, location] of locations) {
    const response = await askPlainly(text)
    assert.equal(response.status, 308, text)
    assert.equal(response.field('location'), location)
    assert.equal(response.text, '')
    assert.match(response.field('svc-ray')!, /^[0-9a-f]{16}/)
  }
  assert.equal(origin.requests.length, 0)
  assert.equal((await askPlainly(to('other.test'))).status, 200)
  assert.equal((await ask(request('GET /'))).status, 200)
  for (const [publicPort, port] of [
    [443, ''],
    [4443, ':4443'],
    [null, `:${secure}`],
  ] as const) {
    edge.reload({ ...edge.config, publicPort })
    assert.equal((await askPlainly(request('GET /a'))).field('location'), `https://site.test${port}/a`)
  }
})

test('the scheme that a trusted proxy reports counts, and that of anyone else does not', async t => {
  const trusting = await start(t, { asks: { redirect: true }, trustedProxies: ['127.0.0.1'] })
  assert.equal((await trusting.askPlainly(request('GET /', 'X-Forwarded-Proto: https'))).status, 200)
  assert.equal((await trusting.askPlainly(request('GET /', 'X-Forwarded-Proto: HTTPS'))).status, 200)
  assert.equal((await trusting.askPlainly(request('GET /', 'X-Forwarded-Proto: wss'))).status, 200)
  assert.equal((await trusting.askPlainly(request('GET /', 'X-Forwarded-Proto: http'))).status, 308)
  // What the nearest hop has added counts, and nothing that may be of a stranger before it.
  for (const [lines, status] of [
    [['X-Forwarded-Proto: http, https'], 200],
    [['X-Forwarded-Proto: http,\t HTTPS '], 200],
    [['X-Forwarded-Proto: https, http'], 308],
    [['X-Forwarded-Proto: https', 'X-Forwarded-Proto: http'], 308],
    [['X-Forwarded-Proto: http', 'X-Forwarded-Proto: http, https'], 200],
    [['X-Forwarded-Proto: https,'], 308],
  ] as const)
    assert.equal((await trusting.askPlainly(request('GET /', ...lines))).status, status, lines.join())
  // Its own TLS says nothing of how its client came.
  assert.equal((await trusting.ask(request('GET /', 'X-Forwarded-Proto: http'))).status, 308)
  const { askPlainly } = await start(t, { asks: { redirect: true } })
  assert.equal((await askPlainly(request('GET /', 'X-Forwarded-Proto: https'))).status, 308)
})

test('https is stated to browsers over https only, on errors too, and not twice', async t => {
  const field = (message: Message) => message.all('strict-transport-security')
  const { ask, askPlainly } = await start(t, { asks: { hsts: 86_400 }, route: { path: '/in' } })
  assert.deepEqual(field(await ask(request('GET /in'))), ['max-age=86400'])
  assert.deepEqual(field(await ask(request('GET /out'))), ['max-age=86400'])
  assert.deepEqual(field(await askPlainly(request('GET /in'))), [])
  const forgetting = await start(t, { asks: { hsts: 0 } })
  assert.deepEqual(field(await forgetting.ask(request('GET /'))), ['max-age=0'])
  const own = await start(t, {
    asks: { hsts: 86_400 },
    response: ok('x', 'strict-transport-security: max-age=7'),
  })
  assert.deepEqual(field(await own.ask(request('GET /'))), ['max-age=7'])
})

test('a connection that was opened for another zone is 1013, and one for another host of the zone is not', async t => {
  const { ask, origin } = await start(t)
  assert.equal((await ask(to('also.test'))).status, 200)
  assert.equal((await ask(to('site.test'), { servername: '' })).status, 200)
  assert.equal(origin.requests.length, 2)
  assert.equal(codeOf(await ask(to('other.test'))), 1013)
  assert.equal(codeOf(await ask(to('site.test'), { servername: 'other.test' })), 1013)
  assert.equal(codeOf(await ask(to('site.test'), { servername: 'ai.test' })), 1013)
  const call = await ask(to('ai.test', `POST /client/v4/accounts/${'a'.repeat(32)}/ai/v1/chat/completions`))
  assert.equal(call.status, 403)
  assert.equal(origin.requests.length, 2)
})

test('a client gets the suite that costs least, or ChaCha20 where it wants that, or what its zone lists', async t => {
  const { secure } = await start(t, {
    asks: { ciphers: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'TLS_AES_256_GCM_SHA384'] },
  })
  const taken = async (servername: string, ciphers: string, options: ConnectionOptions = {}) => {
    const host = { host: '127.0.0.1', port: secure, ca: authority.certificate, servername }
    const socket = connect({ ...host, ciphers, ...options })
    t.after(() => socket.destroy())
    await once(socket, 'secureConnect')
    return socket.getCipher().name
  }
  const [aes128, aes256, chacha] = [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
  ]
  assert.equal(await taken('other.test', `${aes256}:${chacha}:${aes128}`), aes128)
  assert.equal(await taken('other.test', `${chacha}:${aes128}:${aes256}`), chacha)
  assert.equal(await taken('other.test', aes256), aes256)
  assert.equal(await taken('site.test', `${aes128}:${aes256}`), aes256)
  assert.equal(await taken('site.test', `${chacha}:${aes256}`), aes256)
  assert.equal(await taken('site.test', aes128), aes128)
  const [old128, old256] = ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384']
  const old = { maxVersion: 'TLSv1.2' } as const
  assert.equal(await taken('other.test', `${old256}:${old128}`, old), old128)
  assert.equal(await taken('site.test', `${old128}:${old256}`, old), old256)
})

test('TLS below the version of the zone is 1028, a suite that it does not list 1029, in that zone alone', async t => {
  const { ask } = await start(t, { asks: { minVersion: 'TLSv1.3' } })
  const old = { maxVersion: 'TLSv1.2' } as const
  const refused = await ask(to('site.test'), old)
  assert.equal(codeOf(refused), 1028)
  assert.match(refused.text, /speaks TLS 1\.3/)
  assert.equal((await ask(to('site.test'))).status, 200)
  assert.equal((await ask(to('other.test'), { ...old, servername: 'other.test' })).status, 200)
  const listed = await start(t, { asks: { ciphers: ['TLS_AES_256_GCM_SHA384'] } })
  const suite = (ciphers: string) => listed.ask(to('site.test'), { ciphers })
  assert.equal((await suite('TLS_AES_256_GCM_SHA384')).status, 200)
  assert.equal(codeOf(await suite('TLS_AES_128_GCM_SHA256')), 1029)
  assert.equal(
    codeOf(await listed.ask(to('site.test'), { ...old, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' })),
    1029,
  )
})
