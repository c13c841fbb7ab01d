// Origins behind TLS: verified unless told otherwise; what is wrong with them is 525 or 526.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { createServer, type TlsOptions } from 'node:tls'
import { type Edge, edgeConfig, recordOf, startEdge } from '../help/edge.ts'
import { deadOrigin, ok, startOrigin } from '../help/origin.ts'
import { post, request, Wire } from '../help/raw.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'))
after(() => rmSync(folder, { recursive: true }))

const openssl = (...args: string[]) =>
  execFileSync(process.env.OPENSSL ?? 'openssl', args, { cwd: folder, stdio: 'pipe' })
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

/** Makes an authority, and with it a certificate that is good, one that has expired and one for another name; beside them a self-signed one. */
function makeCertificates(): void {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    ...curve,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=Test CA',
    '-days',
    '2',
  )
  openssl(
    'req',
    '-x509',
    ...curve,
    '-keyout',
    'self.key',
    '-out',
    'self.pem',
    '-subj',
    '/CN=localhost',
    '-days',
    '2',
  )
  writeFileSync(join(folder, 'index.txt'), '')
  writeFileSync(join(folder, 'serial'), '01\n')
  writeFileSync(
    join(folder, 'ca.cnf'),
    `[ca]
default_ca=x
[x]
dir=.
database=index.txt
serial=serial
new_certs_dir=.
certificate=ca.pem
private_key=ca.key
default_md=sha256
policy=p
copy_extensions=copy
unique_subject=no
[p]
commonName=supplied
`,
  )
  for (const [name, host, end] of [
    ['good', 'localhost', '20990101000000Z'],
    ['expired', 'localhost', '20200102000000Z'],
    ['other', 'other.test', '20990101000000Z'],
    ['client', 'gateway', '20990101000000Z'],
    ['next', 'next gateway', '20990101000000Z'],
  ] as const) {
    openssl(
      'req',
      ...curve,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      '-subj',
      `/CN=${host}`,
      '-addext',
      `subjectAltName=DNS:${host}`,
    )
    openssl(
      'ca',
      '-batch',
      '-config',
      'ca.cnf',
      '-in',
      `${name}.csr`,
      '-out',
      `${name}.pem`,
      '-startdate',
      '20200101000000Z',
      '-enddate',
      end,
    )
  }
}

makeCertificates()

/** Starts an origin behind TLS that answers every request with the name that was asked for. */
async function startTlsOrigin(
  t: TestContext,
  certificate: string,
  options: TlsOptions = {},
): Promise<string> {
  const server = createServer({
    key: read(`${certificate}.key`),
    cert: read(`${certificate}.pem`),
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
  const edge = await startEdge(t, [{ url, tls: { ca: read('ca.pem') } }])
  for (let i = 0; i < 2; i++) assert.equal((await edge.ask(ask)).text, '/path localhost http/1.1')
  assert.equal(edge.metrics.originConnections.value, 1)
})

test('an origin reached by its address is verified by the name that the operator gives', async t => {
  const url = (await startTlsOrigin(t, 'good')).replace('localhost', '127.0.0.1')
  const ca = read('ca.pem')
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
    const ca = certificate === 'good' ? null : read('ca.pem')
    const edge = await startEdge(t, [{ url, tls: { ca } }])
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
  const edge = await startEdge(t, [{ url, tls: { ca: read('ca.pem') } }], { timeouts: { handshake: 200 } })
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
  const own = ['-accept', '127.0.0.1:0', '-cert', 'good.pem', '-key', 'good.key']
  const only = version === 'TLSv1.2' ? '-tls1_2' : '-tls1_3'
  const server = spawn(process.env.OPENSSL ?? 'openssl', ['s_server', ...own, ...trust, only], {
    cwd: folder,
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

const identity = (name: string) => ({ certificate: read(`${name}.pem`), key: read(`${name}.key`) })

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  const asking: TlsOptions = {
    requestCert: true,
    ca: read('ca.pem'),
    minVersion: version,
    maxVersion: version,
  }

  test(`an origin of ${version} that requires a certificate is 525 without one`, async t => {
    const url = await startTlsOrigin(t, 'good', asking)
    const edge = await startEdge(t, [{ url, tls: { ca: read('ca.pem') } }])
    await assertRefused(edge)
  })

  test(`a server of OpenSSL with ${version} that does not trust our certificate is 525`, async t => {
    const url = await startOpenssl(t, version)
    for (const shown of [null, identity('self'), identity('expired')])
      await assertRefused(await startEdge(t, [{ url, tls: { ca: read('ca.pem'), identity: shown } }]))
    const trusted = await startEdge(t, [{ url, tls: { ca: read('ca.pem'), identity: identity('client') } }])
    assert.equal((await trusted.ask(ask)).status, 200)
  })

  test(`an origin of ${version} that requires a certificate gets that of its pool, on each connection`, async t => {
    const url = await startTlsOrigin(t, 'good', asking)
    const edge = await startEdge(t, [{ url, tls: { ca: read('ca.pem'), identity: identity('client') } }])
    const clients = await Promise.all([edge.connect(), edge.connect(), edge.connect()])
    for (const client of clients) await client.send(ask)
    for (const client of clients) assert.equal((await client.response()).text, 'gateway')
  })

  test(`a call that an origin of ${version} refused for its certificate goes to another member`, async t => {
    const url = await startTlsOrigin(t, 'good', asking)
    const other = await startTlsOrigin(t, 'good')
    const ca = read('ca.pem')
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
  const server = createServer({ key: read('good.key'), cert: read('good.pem'), minVersion: 'TLSv1.3' })
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
  const edge = await startEdge(t, [{ url, tls: { ca: read('ca.pem') } }])
  assert.equal((await edge.ask(ask)).text, 'fine')
  for (let i = 0; i < 5; i++) {
    const answer = await edge.ask(post('/', 'x'.repeat(300_000), 'Accept: application/json'))
    assert.equal(recordOf(answer).error_code, 520)
  }
})

test('a TLS connection that cannot be reused after a HEAD makes room for queued requests', async t => {
  const server = createServer({ key: read('good.key'), cert: read('good.pem') })
  server.on('secureConnection', socket => {
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'))
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `https://localhost:${(server.address() as AddressInfo).port}`
  const transport = { connections: 1, queue: { size: 9, timeout: 0 } }
  const edge = await startEdge(t, [{ url, tls: { ca: read('ca.pem') } }], { transport })
  const clients = await Promise.all([edge.connect(), edge.connect(), edge.connect()])
  for (const client of clients) await client.send(request('HEAD /'))
  for (const client of clients) assert.equal((await client.response('HEAD')).status, 200)
})

test('connections with an old certificate end with a reload that has another one', async t => {
  const url = await startTlsOrigin(t, 'good', { requestCert: true, ca: read('ca.pem') })
  const member = (name: string) => ({ url, tls: { ca: read('ca.pem'), identity: identity(name) } })
  const edge = await startEdge(t, [member('client')])
  assert.equal((await edge.ask(ask)).text, 'gateway')
  edge.plane.reload(edgeConfig([member('next')]))
  assert.equal((await edge.ask(ask)).text, 'next gateway')
})

test('an origin that does not listen is 521 with TLS too', async t => {
  const edge = await startEdge(t, [`https://127.0.0.1:${deadOrigin().port}`])
  assert.equal(recordOf(await edge.ask(ask)).error_code, 521)
})
