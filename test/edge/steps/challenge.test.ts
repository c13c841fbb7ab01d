// What authorities get that check hosts, over HTTP and in a TLS handshake, and what everybody else gets meanwhile.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import type { AutomaticTls } from '../../../src/certificates/acme/automatic.ts'
import type { ZoneTls } from '../../../src/config/model/config.ts'
import { Authority } from '../../help/certificates.ts'
import { Edge, type EdgeSettings, edgeConfig, listenAt } from '../../help/edge.ts'
import { ok, startResponder } from '../../help/origin.ts'
import { connectTo, type Message } from '../../help/raw.ts'

const authority = new Authority()
const site = authority.issue(['site.test'])
const validation = authority.issue(['site.test'])
const other = authority.issue(['other.test'])
const overHttp = {
  host: 'site.test',
  token: 'abc-_1',
  keyAuthorization: 'abc-_1.thumbprint',
  validation: null,
}
const inTls = { ...overHttp, token: 'tls', validation }
const path = '/.well-known/acme-challenge/'

async function start(t: TestContext, automatic: AutomaticTls, zone: EdgeSettings['zone'] = {}) {
  const origin = await startResponder(t, () => ok('origin'))
  const config = {
    ...edgeConfig([origin.url], { zone: { hosts: ['site.test', 'other.test'], ...zone } }),
    listen: [false, true].map(tls => ({ host: '127.0.0.1', port: 0, tls })),
    tls: { certificates: [], minVersion: 'TLSv1.2' } as const,
  }
  const edge = await listenAt(t, new Edge(t, config, { automatic }))
  const ask = async (
    target: string,
    { host = 'site.test', method = 'GET', rest = '' } = {},
  ): Promise<Message> => {
    const wire = await connectTo(t, edge.port)
    await wire.send(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n${rest}\r\n`)
    return wire.response(method)
  }
  const shake = async (options: ConnectionOptions): Promise<TLSSocket> => {
    const ca = authority.certificate
    const socket = connect({ host: '127.0.0.1', port: edge.plane.securePort, ca, ...options })
    t.after(() => socket.destroy())
    await once(socket, 'secureConnect')
    return socket
  }
  return { edge, origin, ask, shake }
}

const redirect: ZoneTls = {
  redirect: true,
  hsts: null,
  minVersion: 'TLSv1.2',
  ciphers: [],
  fips: false,
  client: null,
}

test('the token of an order gets its key authorization, before a redirect and in a paused zone, and no origin hears of it', async t => {
  for (const zone of [{}, { tls: redirect }, { paused: true }]) {
    const { origin, ask } = await start(t, { identities: [], challenges: [overHttp] }, zone)
    const response = await ask(`${path}abc-_1`)
    assert.equal(response.status, 200)
    assert.equal(response.text, 'abc-_1.thumbprint')
    assert.equal(response.field('content-type'), 'application/octet-stream')
    const head = await ask(`${path}abc-_1`, { method: 'HEAD' })
    assert.equal(head.field('content-length'), '17')
    assert.equal(origin.requests.length, 0)
  }
})

test('other tokens, hosts, methods and paths are for the origin, as before', async t => {
  const { edge, origin, ask } = await start(t, { identities: [], challenges: [overHttp, inTls] })
  const others = [
    [`${path}abc-_`],
    [`${path}abc-_1?x`],
    [`${path}tls`],
    [path],
    ['/x/.well-known/acme-challenge/abc-_1'],
    [`${path}abc-_1`, { host: 'other.test' }],
    [`${path}abc-_1`, { method: 'POST', rest: 'Content-Length: 0\r\n' }],
  ] as const
  for (const [target, options] of others) assert.equal((await ask(target, options)).text, 'origin', target)
  assert.equal(origin.requests.length, others.length)
  assert.equal((await ask(`${path}abc-_1`)).text, 'abc-_1.thumbprint')
  edge.plane.takeCertificates({ identities: [], challenges: [] })
  assert.equal((await ask(`${path}abc-_1`)).text, 'origin')
})

test('a body that comes with the request of an authority is not read as the next request', async t => {
  const { ask } = await start(t, { identities: [], challenges: [overHttp] })
  const response = await ask(`${path}abc-_1`, { rest: 'Content-Length: 5\r\n' })
  assert.equal(response.text, 'abc-_1.thumbprint')
  assert.equal(response.field('connection'), 'close')
})

test('a handshake of acme-tls/1 gets the certificate of the validation and is closed, without a word of HTTP', async t => {
  const { edge, shake } = await start(t, { identities: [site], challenges: [inTls] })
  const socket = await shake({ servername: 'site.test', ALPNProtocols: ['acme-tls/1'] })
  assert.equal(socket.alpnProtocol, 'acme-tls/1')
  assert.equal(socket.getPeerX509Certificate()!.toString(), validation.certificate)
  socket.on('error', () => {})
  await once(socket, 'close')
  assert.equal(edge.metrics.tlsHandshakes.validation.value, 1)
  assert.equal(edge.metrics.tlsHandshakes.full.value, 0)
  const browser = await shake({ servername: 'site.test', ALPNProtocols: ['http/1.1'] })
  assert.equal(browser.getPeerX509Certificate()!.toString(), site.certificate)
  await assert.rejects(
    shake({ servername: 'other.test', ALPNProtocols: ['acme-tls/1'] }),
    { code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' },
    'a host that nobody validates',
  )
})

test('clients get an alert until a certificate is there, and then that', async t => {
  const { edge, shake } = await start(t, { identities: [], challenges: [] })
  const unrecognized = { code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' }
  await assert.rejects(shake({ servername: 'site.test' }), unrecognized)
  assert.equal(edge.metrics.tlsFailures.server_name.value, 1)
  edge.plane.takeCertificates({ identities: [site, other], challenges: [] })
  const socket = await shake({ servername: 'other.test' })
  assert.equal(socket.getPeerX509Certificate()!.toString(), other.certificate)
  await assert.rejects(
    shake({ servername: 'site.test', ALPNProtocols: ['acme-tls/1'] }),
    { code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL' },
    'an order that is over',
  )
})
