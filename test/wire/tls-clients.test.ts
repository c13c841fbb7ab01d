// TLS to clients: the certificate for the name that they ask for, HTTP as on a plain connection behind it, and an end to every handshake that leads nowhere.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { type ConnectionOptions, connect, getCiphers, type SecureVersion, type TLSSocket } from 'node:tls'
import { X509Certificate } from 'node:crypto'
import type { TlsConfig } from '../../src/config/model/config.ts'
import { newTicketKey } from '../../src/tls/ticket-keys.ts'
import type { Clock } from '../../src/base/clock.ts'
import { Authority } from '../help/certificates.ts'
import { ManualClock } from '../help/clock.ts'
import { Edge, type EdgeSettings, edgeConfig, listenAt, recordOf, zoneTo } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { connectTo, request, Wire } from '../help/raw.ts'
import { until } from '../help/until.ts'

const authority = new Authority()
const site = authority.issue(['site.test', '127.0.0.1'])
const siteRsa = authority.issue(['site.test'], { key: 'rsa' })
const wild = authority.issue(['*.shops.test'])

interface Settings extends EdgeSettings {
  readonly tls?: Partial<TlsConfig>
}

async function start(
  t: TestContext,
  settings: Settings = {},
  respond: () => string | Promise<string> = () => ok('hello'),
  clock?: Clock,
) {
  const origin = await startResponder(t, respond)
  const config = {
    ...edgeConfig([origin.url], settings),
    listen: [{ host: '127.0.0.1', port: 0, tls: true }],
    tls: { certificates: [site, siteRsa, wild], minVersion: 'TLSv1.2', ...settings.tls } as const,
  }
  return { origin, edge: await listenAt(t, new Edge(t, config, { ...(clock && { clock }) })) }
}

/** Opens a connection that verifies the certificate for the name. */
async function secure(
  t: TestContext,
  edge: Edge,
  { servername = 'site.test', ...options }: ConnectionOptions & { readonly localAddress?: string } = {},
): Promise<{ wire: Wire; socket: TLSSocket }> {
  const socket = connect({
    host: '127.0.0.1',
    port: edge.port,
    ca: authority.certificate,
    servername,
    allowHalfOpen: true,
    ...options,
  } as ConnectionOptions)
  t.after(() => socket.destroy())
  const wire = new Wire(socket)
  await once(socket, 'secureConnect')
  return { wire, socket }
}

/** Opens a connection whose TCP connection is at hand as well. */
async function secureOver(t: TestContext, edge: Edge): Promise<{ wire: Wire; transport: Socket }> {
  const transport = connectTcp(edge.port, '127.0.0.1')
  await once(transport, 'connect')
  const { wire } = await secure(t, edge, { socket: transport })
  return { wire, transport }
}

/** Tells the error of a handshake that fails. */
async function refusal(t: TestContext, edge: Edge, options: ConnectionOptions): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: edge.port, ca: authority.certificate, ...options })
  t.after(() => socket.destroy())
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  return error.code ?? ''
}

test('a client that names an address gets the first certificate, and any zone', async t => {
  const { edge } = await start(t)
  // Node does not send addresses in this place.
  const args = [
    's_client',
    '-connect',
    `127.0.0.1:${edge.port}`,
    '-servername',
    '192.0.2.7',
    '-quiet',
    '-no_ign_eof',
  ]
  const client = spawn('openssl', args, { stdio: ['pipe', 'pipe', 'ignore'] })
  t.after(() => client.kill('SIGKILL'))
  client.stdin.write(request('GET /', 'Connection: close'))
  assert.match(await text(client.stdout), /^HTTP\/1\.1 200 /)
})

test('requests over TLS reach the origin as others do, which learns that they came so', async t => {
  const { edge, origin } = await start(t)
  const { wire, socket } = await secure(t, edge)
  for (let i = 0; i < 3; i++) {
    await wire.send(request('GET /'))
    assert.equal((await wire.response()).text, 'hello')
  }
  assert.equal(socket.getProtocol(), 'TLSv1.3')
  assert.equal(socket.alpnProtocol, false)
  const [seen] = origin.requests
  assert.equal(seen!.field('x-forwarded-proto'), 'https')
  assert.match(seen!.field('forwarded')!, /;proto=https$/)
  assert.equal(edge.metrics.tlsHandshakes.full.value, 1)
  assert.equal(edge.metrics.clientConnections.value, 1)
  wire.leave()
  await until(() => edge.metrics.clientConnections.value === 0)
})

test('clients get the certificate for the name that they ask for, by an algorithm that they know', async t => {
  const { edge } = await start(t)
  const subject = async (options: ConnectionOptions) => {
    const { socket } = await secure(t, edge, options)
    return new X509Certificate(socket.getPeerCertificate().raw).serialNumber
  }
  const serial = ({ certificate }: { certificate: string }) => new X509Certificate(certificate).serialNumber
  assert.equal(await subject({}), serial(site))
  assert.equal(await subject({ servername: 'SITE.test' }), serial(site))
  assert.equal(await subject({ servername: 'a.shops.test' }), serial(wild))
  // To an address, no name is sent.
  assert.equal(await subject({ servername: '' }), serial(site))
  const rsa = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' } as const
  assert.equal(await subject(rsa), serial(siteRsa))
})

test('a name without a certificate, an old version, weak ciphers and unknown protocols are refused by name', async t => {
  const { edge } = await start(t)
  const { tlsFailures } = edge.metrics
  assert.equal(await refusal(t, edge, { servername: 'other.test' }), 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME')
  assert.equal(await refusal(t, edge, { servername: 'a.b.shops.test' }), 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME')
  assert.equal(tlsFailures.server_name.value, 2)
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  assert.match(await refusal(t, edge, { servername: 'site.test', ...old }), /PROTOCOL_VERSION/)
  await until(() => tlsFailures.version.value === 1)
  const weak = { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' } as const
  assert.match(await refusal(t, edge, { servername: 'site.test', ...weak }), /HANDSHAKE_FAILURE/)
  await until(() => tlsFailures.cipher.value === 1)
  const strange = { servername: 'site.test', ALPNProtocols: ['spdy/3'] }
  assert.match(await refusal(t, edge, strange), /NO_APPLICATION_PROTOCOL/)
  await until(() => tlsFailures.protocol.value === 1)
  assert.match(await refusal(t, edge, { servername: 'site.test', ca: [] }), /UNABLE_TO_VERIFY/)
  await until(() => edge.metrics.clientConnections.value === 0)
})

test('nothing is spoken but TLS 1.2 and 1.3, with forward secrecy and authenticated encryption', async t => {
  const { edge } = await start(t)
  /** Offers all that OpenSSL knows, and again without what was taken, until nothing is. */
  const spoken = async (version: SecureVersion): Promise<string[]> => {
    const offered = new Set(getCiphers().map(name => name.toUpperCase()))
    const taken: string[] = []
    for (;;) {
      const ciphers = `${[...offered].join(':')}:@SECLEVEL=0`
      const hello = { minVersion: version, maxVersion: version, ciphers }
      const shaken = await secure(t, edge, hello).catch(() => null)
      if (shaken === null) return taken
      const { name, standardName } = shaken.socket.getCipher()
      taken.push(standardName)
      assert.ok(offered.delete(name))
    }
  }
  assert.deepEqual(await spoken('TLSv1'), [])
  assert.deepEqual(await spoken('TLSv1.1'), [])
  assert.deepEqual(await spoken('TLSv1.2'), [
    'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
    'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
    'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
    'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
    'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
    'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
  ])
  assert.deepEqual(await spoken('TLSv1.3'), [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
  ])
})

test('key exchanges that cost a server much are refused by name', async t => {
  const { edge } = await start(t)
  for (const ecdhCurve of ['X25519MLKEM768', 'X25519', 'P-256', 'P-384'])
    assert.equal((await secure(t, edge, { ecdhCurve })).socket.authorized, true)
  const costly = ['P-521', 'X448', 'ffdhe2048', 'ffdhe3072']
  for (const ecdhCurve of costly)
    assert.match(await refusal(t, edge, { servername: 'site.test', ecdhCurve }), /HANDSHAKE_FAILURE/)
  await until(() => edge.metrics.tlsFailures.cipher.value === costly.length)
})

test('a minimum of TLS 1.3 is kept', async t => {
  const { edge } = await start(t, { tls: { minVersion: 'TLSv1.3' } })
  assert.match(await refusal(t, edge, { servername: 'site.test', maxVersion: 'TLSv1.2' }), /PROTOCOL_VERSION/)
  assert.equal((await secure(t, edge)).socket.getProtocol(), 'TLSv1.3')
})

test('sessions are resumed, also behind a reload that leaves their certificate', async t => {
  const { edge } = await start(t)
  const session = async (resumed?: Buffer) => {
    const { wire, socket } = await secure(t, edge, resumed === undefined ? {} : { session: resumed })
    await wire.send(request('GET /'))
    await wire.response()
    return { ticket: socket.getSession()!, isResumed: socket.isSessionReused() }
  }
  const first = await session()
  const second = await session(first.ticket)
  assert.deepEqual([first.isResumed, second.isResumed], [false, true])
  edge.reload({ ...edge.config, tls: { ...edge.config.tls, certificates: [site, siteRsa] } })
  assert.equal((await session(second.ticket)).isResumed, true)
  assert.deepEqual([edge.metrics.tlsHandshakes.full.value, edge.metrics.tlsHandshakes.resumed.value], [1, 2])
})

test('a session is resumed with its key of now, of before and of soon, and with no other', async t => {
  const { edge } = await start(t)
  const { edge: other } = await start(t)
  const [old, before, now, soon] = Array.from({ length: 4 }, newTicketKey) as [Buffer, Buffer, Buffer, Buffer]
  for (const maxVersion of ['TLSv1.3', 'TLSv1.2'] as const) {
    const resumes = async (at: Edge, session?: Buffer) => {
      const { wire, socket } = await secure(t, at, { maxVersion, ...(session && { session }) })
      await wire.send(request('GET /'))
      await wire.response()
      return { isResumed: socket.isSessionReused(), session: socket.getSession()! }
    }
    for (const [key, isGood] of [
      [old, false],
      [before, true],
      [now, true],
      [soon, true],
    ] as const) {
      other.plane.takeTicketKeys({ current: key, others: [] })
      const { session } = await resumes(other)
      edge.plane.takeTicketKeys({ current: now, others: [before, soon] })
      // The second one finds the key of now in its place again.
      assert.equal((await resumes(edge, session)).isResumed, isGood)
      const fresh = await resumes(edge)
      other.plane.takeTicketKeys({ current: now, others: [] })
      assert.equal((await resumes(other, fresh.session)).isResumed, true)
    }
  }
})

test('a session is not resumed with another certificate, nor for another name', async t => {
  const { edge } = await start(t)
  const { tlsHandshakes } = edge.metrics
  for (const maxVersion of ['TLSv1.3', 'TLSv1.2'] as const) {
    const begin = async (servername: string, session?: Buffer) => {
      const { wire, socket } = await secure(t, edge, { servername, maxVersion, ...(session && { session }) })
      await wire.send(request('GET /'))
      await wire.response()
      return { isResumed: socket.isSessionReused(), session: socket.getSession()! }
    }
    const { session } = await begin('a.shops.test')
    assert.equal((await begin('a.shops.test', session)).isResumed, true)
    assert.equal((await begin('b.shops.test', session)).isResumed, false)
    assert.equal((await begin('site.test', session)).isResumed, false)
    edge.reload({ ...edge.config, tls: { ...edge.config.tls, minVersion: maxVersion } })
    assert.equal((await begin('a.shops.test', session)).isResumed, maxVersion === 'TLSv1.2')
    edge.reload(edge.config)
  }
  assert.equal(tlsHandshakes.resumed.value, 3)
})

test('a reload changes certificates for new connections, and cuts none', async t => {
  const { edge } = await start(t)
  const { wire } = await secure(t, edge)
  const next = authority.issue(['site.test'])
  edge.reload({ ...edge.config, tls: { certificates: [next], minVersion: 'TLSv1.2' } })
  await wire.send(request('GET /'))
  assert.equal((await wire.response()).status, 200)
  const { socket } = await secure(t, edge)
  assert.equal(new X509Certificate(next.certificate).raw.equals(socket.getPeerCertificate().raw), true)
})

test('plain HTTP on a port with TLS is 400, in words, and is not served', async t => {
  const { edge, origin } = await start(t)
  const wire = await connectTo(t, edge.port)
  await wire.send(request('GET /', 'Accept: application/json'))
  const response = await wire.response()
  assert.equal(response.status, 400)
  assert.match(String(recordOf(response).what_happened ?? recordOf(response).detail), /plain HTTP/)
  assert.equal(await wire.ending, 'FIN')
  assert.equal(origin.requests.length, 0)
  assert.equal(edge.metrics.tlsFailures.not_tls.value, 1)
})

test('a handshake that does not go on ends in time, whatever was sent of it', async t => {
  const { edge } = await start(t, { client: { handshakeTimeout: 300 } })
  const hello = await helloOf('site.test')
  for (const part of [Buffer.alloc(0), hello.subarray(0, 1), hello.subarray(0, 200), hello]) {
    const wire = await connectTo(t, edge.port)
    await wire.send(part)
    assert.equal(await wire.ending, 'RST')
  }
  assert.equal(edge.metrics.tlsFailures.timeout.value, 4)
  assert.equal(edge.metrics.clientConnections.value, 0)
})

test('a client that leaves in the middle of its handshake is counted, and leaves nothing', async t => {
  const { edge } = await start(t)
  const gone = await connectTo(t, edge.port)
  await gone.send((await helloOf('site.test')).subarray(0, 50))
  gone.leave()
  await until(() => edge.metrics.tlsFailures.closed.value === 1)
  assert.equal(edge.metrics.clientConnections.value, 0)
})

test('connections count from before their handshake on, and one that has only just come makes room for a client that has none', async t => {
  const client = { connections: 4, connectionsPerAddress: 2, handshakeTimeout: 60_000 }
  // Nobody has waited for long.
  const { edge } = await start(t, { client }, undefined, new ManualClock())
  const { clientConnections, refusedConnections, evictedConnections, tlsHandshakes } = edge.metrics
  const isCut = async ({ ending }: Wire) => assert.match(await ending, /^(RST|ECONNRESET)$/)
  const silent = await connectTo(t, edge.port)
  await until(() => clientConnections.value === 1)
  const halfway = await connectTo(t, edge.port)
  await halfway.send((await helloOf('site.test')).subarray(0, 200))
  await until(() => clientConnections.value === 2)
  const next = await connectTo(t, edge.port)
  await isCut(silent)
  assert.deepEqual([evictedConnections.silent.value, clientConnections.value], [1, 2])
  await secure(t, edge, { localAddress: '127.0.0.2' })
  const { wire: served } = await secure(t, edge, { localAddress: '127.0.0.3' })
  await secure(t, edge, { localAddress: '127.0.0.4' })
  await isCut(halfway)
  await secure(t, edge, { localAddress: '127.0.0.5' })
  await isCut(next)
  assert.deepEqual([evictedConnections.silent.value, clientConnections.value], [3, 4])
  // One that was served and is idle makes room before the handshake of the other begins.
  await served.send(request('GET /'))
  assert.equal((await served.response()).status, 200)
  await secure(t, edge, { localAddress: '127.0.0.6' })
  await served.ending
  assert.equal(evictedConnections.idle.value, 1)
  // Clients of TLS 1.3 are done before the server is.
  await until(() => tlsHandshakes.full.value === 5)
  assert.equal(clientConnections.value, 4)
  assert.equal(refusedConnections.connections.value + refusedConnections.connections_per_address.value, 0)
})

test('a hello may come in any pieces', async t => {
  const { edge } = await start(t)
  const socket = connectTcp(edge.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.setNoDelay(true)
  const write = socket.write.bind(socket)
  socket.write = ((bytes: Buffer, ...rest: never[]) => {
    for (const byte of bytes) write(Buffer.from([byte]))
    return write('', ...rest)
  }) as typeof socket.write
  const client = connect({ socket, ca: authority.certificate, servername: 'site.test' })
  t.after(() => client.destroy())
  await once(client, 'secureConnect')
  assert.equal(client.authorized, true)
})

test('a client that closes its half after its request gets the whole response, then the end', async t => {
  const { edge } = await start(t)
  const { wire } = await secure(t, edge)
  await wire.send(request('GET /'))
  wire.finish()
  assert.equal((await wire.response()).text, 'hello')
  assert.equal(await wire.ending, 'FIN')
})

test('a client that closes its half and leaves has abandoned its request', async t => {
  const { edge, origin } = await start(t, {}, () => new Promise<string>(() => {}))
  const { wire } = await secure(t, edge)
  await wire.send(request('GET /'))
  await until(() => origin.requests.length === 1)
  wire.leave()
  await until(() => edge.metrics.clientAborts.value === 1)
  await until(() => edge.metrics.clientConnections.value === 0)
})

test('broken TLS records after the handshake close the connection at once, between requests and during one', async t => {
  const { edge, origin } = await start(t)
  // A record that no key fits, none that TLS knows, and one that is too long.
  const forged = Buffer.from([23, 3, 3, 0, 20, ...Array<number>(20).fill(7)])
  const breaks = [forged, Buffer.from(request('GET /')), Buffer.from([23, 3, 3, 0xff, 0xff])]
  for (const [nth, bytes] of breaks.entries()) {
    const idle = await secureOver(t, edge)
    const busy = await secureOver(t, edge)
    const before = origin.bytesReceived
    await busy.wire.send('POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 200000\r\n\r\n')
    await busy.wire.send(Buffer.alloc(100_000))
    await until(() => origin.bytesReceived > before)
    for (const { transport, wire } of [idle, busy]) {
      transport.write(bytes)
      await wire.ending
    }
    await until(() => edge.metrics.clientConnections.value === 0)
    assert.equal(edge.metrics.clientAborts.value, nth + 1)
    assert.equal(edge.metrics.tlsViolations.value, 2 * (nth + 1))
  }
  assert.equal(origin.requests.length, 0)
})

test('a client cannot renegotiate', async t => {
  const { edge } = await start(t)
  const { wire, socket } = await secure(t, edge, { maxVersion: 'TLSv1.2' })
  socket.renegotiate({}, () => {})
  assert.equal(await wire.ending, 'RST')
  await until(() => edge.metrics.clientConnections.value === 0)
})

test('a drain lets exchanges over TLS finish, and closes idle connections', async t => {
  const { edge } = await start(t)
  const { wire: idle } = await secure(t, edge)
  await idle.send(request('GET /'))
  await idle.response()
  const { wire } = await secure(t, edge)
  const drained = edge.plane.drain(5_000)
  await until(() => edge.plane.isDraining)
  await wire.send(request('GET /'))
  assert.equal((await wire.response()).field('connection'), 'close')
  assert.deepEqual([await wire.ending, await idle.ending], ['FIN', 'FIN'])
  await drained
})

test('a drain waits a moment for clients in the middle of their handshake, and no longer', async t => {
  const { edge } = await start(t, { client: { handshakeTimeout: 60_000 } })
  const half = await connectTo(t, edge.port)
  await half.send((await helloOf('site.test')).subarray(0, 50))
  await until(() => edge.metrics.clientConnections.value === 1)
  await edge.plane.drain(60_000)
  assert.equal(await half.ending, 'RST')
  assert.equal(edge.metrics.tlsFailures.timeout.value, 1)
})

/** Records the hello that a client sends. */
async function helloOf(servername: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const client = connect({ host: '127.0.0.1', port, servername })
  client.on('error', () => {})
  const [socket] = await once(server, 'connection')
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  socket.destroy()
  server.close()
  return bytes
}

test('a bug behind a handshake disconnects its client, and leaves nothing counted', async t => {
  const { edge } = await start(t)
  let asked = 0
  const planted = t.mock.method(edge.plane.snapshot.trusted, 'has', () => {
    // The first looks are those of the limits of connections, at whether it may make room, and at whether others wait for it.
    if (asked++ < 3) return false
    throw new RangeError('planted')
  })
  const { wire } = await secure(t, edge)
  await wire.ending
  assert.equal(edge.metrics.clientConnections.value, 0)
  planted.mock.restore()
  const { wire: next } = await secure(t, edge)
  await next.send(request('GET /'))
  assert.equal((await next.response()).text, 'hello')
  assert.equal(edge.events.length, 1)
})

test('a resumed session is checked against the name in its own handshake', async t => {
  const zoneOf = (host: string) => ({ ...zoneTo([]), name: host, hosts: [host] })
  const { edge } = await start(t, { zones: [zoneOf('a.shops.test'), zoneOf('b.shops.test')] })
  const ask = async (servername: string, host: string, session?: Buffer) => {
    const { wire, socket } = await secure(t, edge, { servername, ...(session && { session }) })
    await wire.send(`GET / HTTP/1.1\r\nHost: ${host}\r\nAccept: application/json\r\n\r\n`)
    const { error_code } = recordOf(await wire.response())
    return { isResumed: socket.isSessionReused(), code: error_code, session: socket.getSession()! }
  }
  const { session } = await ask('a.shops.test', 'a.shops.test')
  // OpenSSL offers a session for its own name only: it is given another one.
  const renamed = Buffer.from(session.toString('latin1').replace('a.shops.test', 'b.shops.test'), 'latin1')
  const { isResumed, code } = await ask('b.shops.test', 'a.shops.test', renamed)
  assert.deepEqual([isResumed, code], [true, 1013])
  assert.notEqual((await ask('b.shops.test', 'b.shops.test', renamed)).code, 1013)
})
