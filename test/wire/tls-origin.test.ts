// Origins behind TLS: verified unless told otherwise; what is wrong with them is 525 or 526.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createServer, type TlsOptions } from 'node:tls'
import { Authority } from '../help/certificates.ts'
import { type Edge, edgeConfig, recordOf, startEdge } from '../help/edge.ts'
import { deadOrigin, ok, startOrigin } from '../help/origin.ts'
import { post, request, Wire } from '../help/raw.ts'

const authority = new Authority()
/** By what is to be shown of them: good ones, one that has expired, one for another name, and one that signed itself. */
const identities = {
  good: authority.issue(['localhost']),
  expired: authority.issue(['localhost'], { days: -1 }),
  other: authority.issue(['other.test']),
  client: authority.issue([], { subject: '/CN=gateway' }),
  next: authority.issue([], { subject: '/CN=next gateway' }),
  self: new Authority().identity,
}
type Name = keyof typeof identities
const ca = authority.certificate
const ownOf = (name: Name) => ({ key: identities[name].key, cert: identities[name].certificate })

/** Starts an origin behind TLS that answers every request with the name that was asked for. */
async function startTlsOrigin(t: TestContext, certificate: Name, options: TlsOptions = {}): Promise<string> {
  const server = createServer({
    ...ownOf(certificate),
    ...options,
  })
  server.on('tlsClientError', () => {})
  server.on('secureConnection', async socket => {
    t.after(() => socket.destroy())
    const wire = new Wire(socket)
    for (;;) {
      const message = await wire.request().catch(() => null)
      if (message === null) return socket.destroy()
      const client = socket.getPeerCertificate().subject?.CN
      await wire.send(
        ok(client ? String(client) : `${message.target} ${socket.servername} ${socket.alpnProtocol}`),
      )
    }
  })
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `https://localhost:${(server.address() as AddressInfo).port}`
}

const ask = request('GET /path', 'Accept: application/json')

test('an origin with a certificate of a known authority is trusted, and its connection kept', async t => {
  const url = await startTlsOrigin(t, 'good', { ALPNProtocols: ['http/1.1'] })
  const edge = await startEdge(t, [{ url, tls: { ca } }])
  for (let i = 0; i < 2; i++) assert.equal((await edge.ask(ask)).text, '/path localhost http/1.1')
  assert.equal(edge.metrics.originConnections.value, 1)
})

test('an origin reached by its address is verified by the name that the operator gives', async t => {
  const url = (await startTlsOrigin(t, 'good')).replace('localhost', '127.0.0.1')
  const named = await startEdge(t, [{ url, tls: { ca, serverName: 'localhost' } }])
  assert.match((await named.ask(ask)).text, /^\/path localhost/)
  const unnamed = await startEdge(t, [{ url, tls: { ca } }])
  assert.equal(recordOf(await unnamed.ask(ask)).error_code, 526)
})

for (const [certificate, what] of [
  ['good', 'of an authority that nobody knows'],
  ['self', 'that it signed itself'],
  ['expired', 'that has expired'],
  ['other', 'for another name'],
] as const) {
  test(`an origin with a certificate ${what} is 526, unless it need not be verified`, async t => {
    const url = await startTlsOrigin(t, certificate)
    const known = certificate === 'good' ? null : ca
    const edge = await startEdge(t, [{ url, tls: { ca: known } }])
    const answer = await edge.ask(ask)
    const record = recordOf(answer)
    assert.deepEqual(
      [
        answer.status,
        record.error_code,
        record.error_name,
        record.error_category,
        record.retryable,
        record.owner_action_required,
      ],
      [526, 526, 'invalid_ssl_certificate', 'ssl', false, true],
    )
    const lenient = await startEdge(t, [{ url, tls: { verify: false } }])
    assert.equal((await lenient.ask(ask)).status, 200)
  })
}

/** Asserts that this origin fails the handshake. */
async function assertNoHandshake(t: TestContext, url: string): Promise<void> {
  const edge = await startEdge(t, [{ url, tls: { ca } }], { timeouts: { handshake: 200 } })
  const answer = await edge.ask(ask)
  const record = recordOf(answer)
  assert.deepEqual(
    [answer.status, record.error_code, record.error_name, record.error_category, record.retryable],
    [525, 525, 'ssl_handshake_failed', 'ssl', false],
  )
}

test('an origin that speaks no TLS on its port is 525', async t => {
  const origin = await startOrigin(t, async wire => {
    await wire.bytes(1)
    await wire.send('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    wire.finish()
  })
  await assertNoHandshake(t, origin.url.replace('http:', 'https:'))
})

test('an origin that closes, resets or stops responding in the handshake is 525', async t => {
  const endings: ((wire: Wire) => unknown)[] = [
    wire => wire.leave(),
    wire => wire.reset(),
    wire => wire.ending,
  ]
  for (const end of endings) {
    const origin = await startOrigin(t, wire => wire.bytes(1).then(() => end(wire)))
    await assertNoHandshake(t, origin.url.replace('http:', 'https:'))
  }
})

test('an origin without a common TLS version is 525', async t => {
  await assertNoHandshake(
    t,
    await startTlsOrigin(t, 'good', {
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'ALL@SECLEVEL=0',
    }),
  )
})

/** Starts a server that answers with a status page whoever shows a certificate that it trusts, and sends others an alert. */
async function startOpenssl(t: TestContext, version: 'TLSv1.2' | 'TLSv1.3'): Promise<string> {
  const trust = ['-Verify', '1', '-verify_return_error', '-CAfile', 'ca.pem', '-www']
  writeFileSync(join(authority.folder, 'good.pem'), identities.good.certificate)
  writeFileSync(join(authority.folder, 'good.key'), identities.good.key)
  const own = ['-accept', '127.0.0.1:0', '-cert', 'good.pem', '-key', 'good.key']
  const only = version === 'TLSv1.2' ? '-tls1_2' : '-tls1_3'
  const server = spawn(process.env.OPENSSL ?? 'openssl', ['s_server', ...own, ...trust, only], {
    cwd: authority.folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => server.kill())
  let said = ''
  for await (const chunk of server.stdout.iterator({ destroyOnReturn: false })) {
    said += chunk
    const port = /ACCEPT 127\.0\.0\.1:(\d+)\n/.exec(said)?.[1]
    if (port !== undefined) {
      server.stdout.resume()
      return `https://localhost:${port}`
    }
  }
  throw new Error(`openssl does not listen: ${said}`)
}

/** Asserts that no request gets through the handshake, whatever its size. */
async function assertRefused(edge: Edge): Promise<void> {
  for (const size of [0, 1, 60_000, 300_000]) {
    const bytes = size === 0 ? ask : post('/', 'x'.repeat(size), 'Accept: application/json')
    const { error_code, error_category } = recordOf(await edge.ask(bytes))
    assert.deepEqual([size, error_code, error_category], [size, 525, 'ssl'])
  }
}

const identity = (name: Name) => identities[name]

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  const asking: TlsOptions = {
    requestCert: true,
    ca,
    minVersion: version,
    maxVersion: version,
  }

  test(`an origin of ${version} that requires a certificate is 525 without one`, async t => {
    const url = await startTlsOrigin(t, 'good', asking)
    const edge = await startEdge(t, [{ url, tls: { ca } }])
    await assertRefused(edge)
  })

  test(`a server of OpenSSL with ${version} that does not trust our certificate is 525`, async t => {
    const url = await startOpenssl(t, version)
    for (const shown of [null, identity('self'), identity('expired')])
      await assertRefused(await startEdge(t, [{ url, tls: { ca, identity: shown } }]))
    const trusted = await startEdge(t, [{ url, tls: { ca, identity: identity('client') } }])
    assert.equal((await trusted.ask(ask)).status, 200)
  })

  test(`an origin of ${version} that requires a certificate gets that of its pool, on each connection`, async t => {
    const url = await startTlsOrigin(t, 'good', asking)
    const edge = await startEdge(t, [{ url, tls: { ca, identity: identity('client') } }])
    const clients = await Promise.all([edge.connect(), edge.connect(), edge.connect()])
    for (const client of clients) await client.send(ask)
    for (const client of clients) assert.equal((await client.response()).text, 'gateway')
  })

  test(`a call that an origin of ${version} refused for its certificate goes to another member`, async t => {
    const url = await startTlsOrigin(t, 'good', asking)
    const other = await startTlsOrigin(t, 'good')
    const edge = await startEdge(t, [
      { url, tls: { ca } },
      { url: other, tls: { ca } },
    ])
    const answer = await edge.ask(post('/once', 'x', 'Accept: application/json'))
    assert.match(answer.text, /^\/once /)
    assert.equal(edge.accesses[0]!.retries, 1)
  })
}

test('an origin that resets an upload after a complete handshake is 520', async t => {
  const server = createServer({ ...ownOf('good'), minVersion: 'TLSv1.3' })
  server.on('tlsClientError', () => {})
  server.on('secureConnection', socket => {
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    socket.once('data', (bytes: Buffer) => {
      if (bytes.toString('latin1').startsWith('GET')) socket.end(ok('fine', 'Connection: close'))
      else socket.destroy()
    })
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `https://localhost:${(server.address() as AddressInfo).port}`
  const edge = await startEdge(t, [{ url, tls: { ca } }])
  assert.equal((await edge.ask(ask)).text, 'fine')
  for (let i = 0; i < 5; i++) {
    const answer = await edge.ask(post('/', 'x'.repeat(300_000), 'Accept: application/json'))
    assert.equal(recordOf(answer).error_code, 520)
  }
})

test('a TLS connection that cannot be reused after a HEAD makes room for queued requests', async t => {
  const server = createServer(ownOf('good'))
  server.on('secureConnection', socket => {
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'))
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `https://localhost:${(server.address() as AddressInfo).port}`
  const transport = { connections: 1, queue: { size: 9, timeout: 0 } }
  const edge = await startEdge(t, [{ url, tls: { ca } }], { transport })
  const clients = await Promise.all([edge.connect(), edge.connect(), edge.connect()])
  for (const client of clients) await client.send(request('HEAD /'))
  for (const client of clients) assert.equal((await client.response('HEAD')).status, 200)
})

test('connections with an old certificate end with a reload that has another one', async t => {
  const url = await startTlsOrigin(t, 'good', { requestCert: true, ca })
  const member = (name: Name) => ({ url, tls: { ca, identity: identity(name) } })
  const edge = await startEdge(t, [member('client')])
  assert.equal((await edge.ask(ask)).text, 'gateway')
  edge.reload(edgeConfig([member('next')]))
  assert.equal((await edge.ask(ask)).text, 'next gateway')
})

test('an origin that does not listen is 521 with TLS too', async t => {
  const edge = await startEdge(t, [`https://127.0.0.1:${deadOrigin().port}`])
  assert.equal(recordOf(await edge.ask(ask)).error_code, 521)
})
