// Certificates of clients: which of them a zone accepts, by whatever way a request reaches it, and what its origins learn.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as openHttp2 } from 'node:http2'
import { test, type TestContext } from 'node:test'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { authorityKeyIn } from '../../../src/certificates/acme/certificate-id.ts'
import type { AccessRule } from '../../../src/config/model/access-config.ts'
import type { ErrorRule } from '../../../src/config/model/custom-errors-config.ts'
import type { ClientCertificates, Config, ZoneConfig } from '../../../src/config/model/config.ts'
import { Authority } from '../../help/certificates.ts'
import { HaltingClock } from '../../help/clock.ts'
import {
  codeOf,
  Edge,
  type EdgeSettings,
  edgeConfig,
  listenAt,
  openAccess,
  recordOf,
  zoneTo,
} from '../../help/edge.ts'
import { ask as askHttp2, connectHttp2 } from '../../help/http2-client.ts'
import { ok, startResponder } from '../../help/origin.ts'
import { chunks, connectTo, type Message, Wire } from '../../help/raw.ts'
import { until } from '../../help/until.ts'

const run = promisify(execFile)

const servers = new Authority('Servers')
const hosts = ['site.test', 'soft.test', 'open.test', 'next.test']
const server = servers.issue([...hosts, '127.0.0.1'])

const root = new Authority('Clients')
const middle = root.intermediate('Middle')
const others = new Authority('Others')
const of = (subject: string) => ({ subject, usage: 'clientAuth' }) as const
const alice = root.issue(['alice.example'], of('/C=DE/O=Shop, Inc/CN=alice'))
const bob = middle.issue([], of('/CN=bob'))
const stranger = others.issue([], of('/CN=alice'))

const versions = ['TLSv1.2', 'TLSv1.3'] as const

function asking(rules: Partial<ClientCertificates> = {}): ClientCertificates {
  return {
    mode: 'required',
    authorities: root.certificate,
    revocationLists: null,
    forward: 'subject',
    ...rules,
  }
}

interface Settings extends EdgeSettings {
  readonly site?: Partial<ClientCertificates>
}

/** Starts an edge with a zone that requires certificates, one that takes them, one that asks for none, and one of another authority. */
async function start(t: TestContext, { site = {}, ...settings }: Settings = {}) {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>()
  const origin = await startResponder(t, ({ target }) =>
    target === '/slow' ? gate.then(() => ok('slow')) : ok('hello'),
  )
  const zone = (host: string, client: ClientCertificates | null, name = host.split('.')[0]!): ZoneConfig => {
    const usual = zoneTo([origin.url], settings)
    return { ...usual, name, hosts: [host], tls: { ...usual.tls, client } }
  }
  const zonesOf = (client: ClientCertificates) => [
    { ...zone('site.test', client), hosts: ['site.test', '127.0.0.1'] },
    zone('soft.test', asking({ mode: 'optional' })),
    zone('open.test', null),
    zone('next.test', asking({ authorities: others.certificate })),
  ]
  const config: Config = {
    ...edgeConfig([origin.url], settings),
    zones: zonesOf(asking(site)),
    listen: [false, true].map(tls => ({ host: '127.0.0.1', port: 0, tls })),
    tls: { certificates: [server], minVersion: 'TLSv1.2' },
  }
  const clock = new AheadClock(t)
  const edge = await listenAt(t, new Edge(t, config, { clock }))
  const open = async (options: ConnectionOptions = {}): Promise<{ socket: TLSSocket; wire: Wire }> => {
    const to = { host: '127.0.0.1', port: edge.plane.securePort, ca: servers.certificate }
    const socket = connect({ ...to, servername: 'site.test', ...options })
    t.after(() => socket.destroy())
    await once(socket, 'secureConnect')
    return { socket, wire: new Wire(socket) }
  }
  const ask = async (options: ConnectionOptions = {}, text = to(options.servername || 'site.test')) => {
    const { wire } = await open(options)
    await wire.send(text)
    return wire.response()
  }
  const askPlainly = async (text: string): Promise<Message> => {
    const wire = await connectTo(t, edge.port)
    await wire.send(text)
    return wire.response()
  }
  const reload = (client: ClientCertificates) => edge.reload({ ...config, zones: zonesOf(client) })
  return { edge, origin, letGo, clock, open, ask, askPlainly, reload }
}

/** Has a time of day that can be ahead. */
class AheadClock extends HaltingClock {
  ahead = 0

  override now(): number {
    return super.now() + this.ahead
  }
}

const to = (host: string, ...fields: string[]) =>
  ['GET / HTTP/1.1', `Host: ${host}`, 'Accept: application/json', ...fields, '', ''].join('\r\n')

const shown = ({ certificate, key }: typeof alice, ...above: readonly string[]) => ({
  cert: [certificate, ...above].join(''),
  key,
})

const codeIn = (response: Message) => (response.status === 200 ? null : codeOf(response))

const causes = ({ accesses }: Edge) => accesses.map(({ cause }) => cause)

test('a zone that requires a certificate takes those of its authorities, and says what is wrong with others', async t => {
  const { ask, edge, origin } = await start(t)
  const { clientCertificates: counts } = edge.metrics
  const wrong = [
    [null, /presented none/, 'missing', 'GH_CERTIFICATE_MISSING'],
    [shown(stranger), /not issued by an authority/, 'authority', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
    [shown(root.issue([], { days: -1 })), /expired/, 'expired', 'CERT_HAS_EXPIRED'],
    [shown(root.issue([], { from: 1 })), /later time/, 'not_yet_valid', 'CERT_NOT_YET_VALID'],
    [shown(root.issue([], { usage: 'serverAuth' })), /another purpose/, 'purpose', 'INVALID_PURPOSE'],
    [shown(bob), /not issued by an authority/, 'authority', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ] as const
  for (const version of versions) {
    const only = { minVersion: version, maxVersion: version }
    for (const [identity, words, result, cause] of wrong) {
      const before = counts[result].value
      const response = await ask({ ...only, ...identity })
      assert.equal(response.status, 403)
      const { error_code: code, detail } = recordOf(response)
      assert.deepEqual([code, words.test(String(detail))], [1017, true], String(detail))
      assert.equal(counts[result].value, before + 1)
      assert.equal(causes(edge).at(-1), cause)
    }
    assert.equal((await ask({ ...only, ...shown(alice) })).status, 200)
    assert.equal((await ask({ ...only, ...shown(bob, middle.certificate) })).status, 200)
  }
  assert.equal(origin.requests.length, 4)
  assert.equal(counts.accepted.value, 4)
})

test('the limits that an authority sets for those below it count, and an intermediate alone can be trusted', async t => {
  const narrow = root.intermediate('Narrow', 'CA:true,pathlen:0')
  const below = narrow.intermediate('Below')
  const deep = below.issue([], of('/CN=deep'))
  const { ask, reload } = await start(t)
  assert.equal(codeOf(await ask(shown(deep, below.certificate, narrow.certificate))), 1017)
  // No authority: it issued one all the same.
  const leaf = root.issue([], of('/CN=leaf'))
  const forged = new Authority('', leaf).issue([], of('/CN=forged'))
  assert.equal(codeOf(await ask(shown(forged, leaf.certificate))), 1017)
  reload(asking({ authorities: middle.certificate }))
  assert.equal((await ask(shown(bob))).status, 200)
  assert.equal(codeOf(await ask(shown(alice))), 1017)
})

test('a certificate that was revoked is refused, and all are where a list is missing or out of date', async t => {
  const own = new Authority('Revoking')
  const below = own.intermediate('Below')
  const [good, lost] = [own.issue([], of('/CN=good')), own.issue([], of('/CN=lost'))]
  const [deep, gone] = [below.issue([], of('/CN=deep')), below.issue([], of('/CN=gone'))]
  own.revoke(lost)
  below.revoke(gone)
  const authorities = own.certificate
  const lists = own.revocationList() + below.revocationList()
  const { ask, edge, reload } = await start(t, { site: { authorities, revocationLists: lists } })
  assert.equal((await ask(shown(good))).status, 200)
  assert.equal((await ask(shown(deep, below.certificate))).status, 200)
  for (const one of [shown(lost), shown(gone, below.certificate)]) {
    const response = await ask(one)
    assert.match(String(recordOf(response).detail), /revoked/)
    assert.equal(causes(edge).at(-1), 'CERT_REVOKED')
  }
  reload(asking({ authorities, revocationLists: own.revocationList() }))
  assert.equal(codeOf(await ask(shown(deep, below.certificate))), 1017)
  reload(asking({ authorities, revocationLists: own.revocationList(-1) }))
  assert.match(String(recordOf(await ask(shown(good))).detail), /no current list/)
  const { revoked, crl } = edge.metrics.clientCertificates
  assert.deepEqual([revoked.value, crl.value], [2, 2])
})

test('an optional client certificate may be missing, but not wrong', async t => {
  const { ask, askPlainly, origin } = await start(t)
  const servername = 'soft.test'
  assert.equal((await ask({ servername })).status, 200)
  assert.equal((await askPlainly(to('soft.test'))).status, 200)
  for (const request of origin.requests) assert.equal(request.field('svc-client-subject'), null)
  assert.equal((await ask({ servername, ...shown(alice) })).status, 200)
  assert.equal(origin.requests.at(-1)!.field('svc-client-subject'), 'CN=alice,O=Shop\\, Inc,C=DE')
  assert.equal(codeOf(await ask({ servername, ...shown(stranger) })), 1017)
  assert.equal(origin.requests.length, 3)
})

test('no other way leads to a zone that requires a certificate', async t => {
  const { ask, askPlainly, origin, edge } = await start(t, { trustedProxies: ['127.0.0.1'] })
  // Over plain HTTP, whatever a proxy says of it.
  assert.equal(codeOf(await askPlainly(to('site.test'))), 1017)
  assert.equal(codeOf(await askPlainly(to('site.test', 'X-Forwarded-Proto: https'))), 1017)
  // Over a handshake for a zone that asks for none, or trusts others.
  const byOthers = { servername: 'next.test', ...shown(stranger) }
  assert.equal((await ask(byOthers, to('next.test'))).status, 200)
  for (const options of [{ servername: 'open.test' }, { servername: 'soft.test', ...shown(alice) }, byOthers])
    assert.equal(codeOf(await ask(options, to('site.test'))), 1013)
  // Without a name, the address that the client connected to decides what it is asked for.
  assert.equal((await ask({ servername: '', ...shown(alice) }, to('site.test'))).status, 200)
  assert.equal(codeOf(await ask({ servername: '' }, to('site.test'))), 1017)
  const elsewhere = await ask({ servername: '', ...shown(stranger) }, to('next.test'))
  assert.equal(codeOf(elsewhere), 1017)
  assert.equal(elsewhere.field('connection'), 'close')
  assert.equal(origin.requests.length, 2)
  assert.equal(causes(edge).at(-1), 'GH_CERTIFICATE_OF_OTHER_RULES')
})

test('HTTP/2 leads to another zone only where that asks for the same certificates', async t => {
  const { edge, origin } = await start(t)
  const statusOver = async (options: ConnectionOptions, host: string) => {
    const given = { ca: servers.certificate, checkServerIdentity: () => undefined, ...options }
    const session = openHttp2(`https://127.0.0.1:${edge.plane.securePort}`, given)
    t.after(() => session.destroy())
    const stream = session.request({ ':path': '/', ':authority': host, accept: 'application/json' })
    const [headers] = await once(stream, 'response')
    stream.resume()
    return headers[':status']
  }
  const byAlice = { servername: 'site.test', ...shown(alice) }
  assert.equal(await statusOver(byAlice, 'site.test'), 200)
  assert.equal(await statusOver(byAlice, 'soft.test'), 200)
  assert.equal(origin.requests.at(-1)!.field('svc-client-subject'), 'CN=alice,O=Shop\\, Inc,C=DE')
  for (const host of ['open.test', 'next.test']) assert.equal(await statusOver(byAlice, host), 421)
  for (const servername of ['open.test', 'next.test'])
    assert.equal(await statusOver({ servername, ...shown(alice) }, 'site.test'), 421)
  // It was asked there, and showed none.
  assert.equal(await statusOver({ servername: 'soft.test' }, 'site.test'), 403)
  assert.equal(origin.requests.length, 2)
})

for (const version of versions)
  test(`no session of ${version} replaces a certificate`, async t => {
    const { open, edge } = await start(t)
    const session = async (options: ConnectionOptions) => {
      const { socket, wire } = await open({ minVersion: version, maxVersion: version, ...options })
      let ticket: Buffer | undefined
      socket.on('session', (made: Buffer) => (ticket = made))
      await wire.send(to(options.servername!))
      const code = codeIn(await wire.response())
      return { ticket: ticket ?? socket.getSession(), isResumed: socket.isSessionReused(), code }
    }
    const site = { servername: 'site.test' }
    const known = await session({ ...site, ...shown(alice) })
    assert.equal(known.code, null)
    const without = await session({ ...site, session: known.ticket })
    assert.deepEqual([without.isResumed, without.code], [false, 1017])
    const again = await session({ ...site, ...shown(alice), session: known.ticket })
    assert.deepEqual([again.isResumed, again.code], [false, null])
    // A session of a zone without certificates, which is resumed there.
    const open1 = await session({ servername: 'open.test' })
    const open2 = await session({ servername: 'open.test', session: open1.ticket })
    assert.deepEqual([open2.isResumed, open2.code], [true, null])
    const stolen = await session({ ...site, session: open2.ticket })
    assert.deepEqual([stolen.isResumed, stolen.code], [false, 1017])
    const refused = await session({ ...site, session: without.ticket })
    assert.deepEqual([refused.isResumed, refused.code], [false, 1017])
    assert.equal(edge.metrics.tlsHandshakes.resumed.value, 1)
  })

test('a reload with other authorities has clients connect again, and serves none by the old ones', async t => {
  const { edge, open, ask, reload, origin, letGo } = await start(t)
  const idle = await open(shown(alice))
  const busy = await open(shown(alice))
  const elsewhere = await open({ servername: 'open.test' })
  for (const { wire } of [idle, elsewhere]) {
    await wire.send(to(wire === idle.wire ? 'site.test' : 'open.test'))
    assert.equal((await wire.response()).status, 200)
  }
  await busy.wire.send(to('site.test').replace('/', '/slow'))
  const multiplexed = await connectHttp2(t, `https://127.0.0.1:${edge.plane.securePort}`, {
    ...{ ca: servers.certificate, servername: 'site.test', checkServerIdentity: () => undefined },
    ...shown(alice),
  })
  const late = askHttp2(multiplexed, { ':path': '/slow' })
  await until(() => origin.requests.length === 4)
  const ends = [once(multiplexed, 'goaway'), once(multiplexed, 'close')]
  reload(asking({ authorities: others.certificate }))
  assert.equal(await idle.wire.ending, 'FIN')
  await ends[0]
  letGo()
  assert.equal(String((await late).body), 'slow')
  await ends[1]
  const last = await busy.wire.response()
  assert.deepEqual([last.status, last.field('connection')], [200, 'close'])
  await elsewhere.wire.send(to('open.test'))
  assert.equal((await elsewhere.wire.response()).status, 200)
  assert.equal(codeOf(await ask(shown(alice))), 1017)
  assert.equal((await ask(shown(stranger))).status, 200)
})

test('a certificate that expires while its connection is open is refused from then on', async t => {
  const { open, clock } = await start(t)
  const { wire } = await open(shown(alice))
  await wire.send(to('site.test'))
  assert.equal((await wire.response()).status, 200)
  const { validToDate } = new X509Certificate(alice.certificate)
  clock.ahead = validToDate.getTime() - Date.now() + 1000
  await wire.send(to('site.test'))
  assert.match(String(recordOf(await wire.response()).detail), /expired/)
})

test('origins learn of the certificate by fields that no client can send, in any zone', async t => {
  const { edge, ask, askPlainly, origin, reload } = await start(t, { trustedProxies: ['127.0.0.1'] })
  const names = ['Client-Cert', 'Client-Cert-Chain', 'svc-client-subject', 'svc-client-fingerprint']
  const spellings = names.flatMap(name => [
    name,
    name.toUpperCase(),
    name.replaceAll('-', '_'),
    name.replace('-', '.'),
  ])
  const forged = spellings.map(name => `${name}: forged`)
  const sent = () => {
    const { lines } = origin.requests.at(-1)!
    assert.doesNotMatch(lines.join(), /forged/)
    return names.map(name => origin.requests.at(-1)!.field(name))
  }
  const none = [null, null, null, null]
  const { raw } = new X509Certificate(bob.certificate)
  const fingerprint = createHash('sha256').update(raw).digest('hex')
  const byBob = shown(bob, middle.certificate)
  await ask(byBob, to('site.test', ...forged, `Connection: ${names.join(', ')}`))
  assert.deepEqual(sent(), [null, null, 'CN=bob', fingerprint])
  for (const host of ['open.test', 'soft.test']) {
    await askPlainly(to(host, ...forged))
    assert.deepEqual(sent(), none)
    await ask({ servername: host }, to(host, ...forged))
    assert.deepEqual(sent(), none)
  }
  // Over HTTP/2 and with an upgrade, too.
  const multiplexed = await connectHttp2(t, `https://127.0.0.1:${edge.plane.securePort}`, {
    ...{ ca: servers.certificate, servername: 'site.test', checkServerIdentity: () => undefined },
    ...byBob,
  })
  const lowerCase = spellings.map(name => [name.toLowerCase(), 'forged'])
  for (const more of [{}, { 'content-type': 'application/grpc', te: 'trailers' }]) {
    await askHttp2(multiplexed, { ...Object.fromEntries(lowerCase), ':authority': 'site.test', ...more })
    assert.deepEqual(sent(), [null, null, 'CN=bob', fingerprint])
  }
  const request = multiplexed.request(
    { ':method': 'POST', ':path': '/', ':authority': 'site.test' },
    { waitForTrailers: true },
  )
  request.on('wantTrailers', () => request.sendTrailers(Object.fromEntries(lowerCase)))
  request.end('x')
  await once(request.resume(), 'end')
  assert.deepEqual([sent()[2], origin.requests.at(-1)!.trailers], ['CN=bob', []])
  const upgrade = [
    'Connection: Upgrade, svc-client-subject',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
  ]
  await ask(byBob, to('site.test', ...forged, ...upgrade, `Sec-WebSocket-Key: ${'A'.repeat(22)}==`))
  assert.deepEqual(sent(), [null, null, 'CN=bob', fingerprint])
  // A certificate that nobody asked for is none.
  await ask({ servername: 'open.test', ...shown(alice) })
  assert.deepEqual(sent(), none)
  reload(asking({ forward: 'certificate' }))
  await ask(byBob)
  assert.deepEqual(sent(), [`:${raw.toString('base64')}:`, null, 'CN=bob', fingerprint])
  reload(asking({ forward: 'chain' }))
  await ask(
    byBob,
    `${to('site.test', 'Transfer-Encoding: chunked')}${chunks('x')}0\r\n${forged.join('\r\n')}\r\n\r\n`,
  )
  const above = new X509Certificate(middle.certificate).raw.toString('base64')
  assert.deepEqual(sent(), [`:${raw.toString('base64')}:`, `:${above}:`, 'CN=bob', fingerprint])
  assert.equal(origin.requests.at(-1)!.trailers.length, 0)
  await ask(shown(alice))
  assert.equal(sent()[1], null)
  // Certificates of the client's own making, which have the name of its issuer.
  for (const name of ['Clients', 'Middle']) {
    const fake = others.intermediate(name)
    assert.equal((await ask(shown(alice, fake.certificate))).status, 200)
    assert.equal(sent()[1], null)
    assert.equal((await ask(shown(bob, fake.certificate, middle.certificate))).status, 200)
    assert.ok([null, `:${above}:`].includes(sent()[1]!))
  }
  const keyOfMiddle = authorityKeyIn(raw)?.toString('hex')
  // OpenSSL passes by one that has expired, and Node does not.
  const impostor = new Authority('Clients').issue([], {
    ...{ subject: '/CN=Middle', days: -1 },
    extensions: [
      'basicConstraints=critical,CA:true',
      `subjectKeyIdentifier=${keyOfMiddle}`,
      'authorityKeyIdentifier=none',
    ],
  })
  assert.equal((await ask(shown(bob, impostor.certificate, middle.certificate))).status, 200)
  assert.ok([null, `:${above}:`].includes(sent()[1]!))
})

test('rules can ask for the certificate, and for nothing that a client claims of it', async t => {
  const allow = (text: string): AccessRule => ({
    action: 'allow',
    condition: { kind: 'expression', text },
    description: null,
  })
  const { fingerprint256 } = new X509Certificate(alice.certificate)
  const known = fingerprint256.replaceAll(':', '').toLowerCase()
  const zone = {
    access: {
      ...openAccess,
      otherwise: 'deny',
      rules: [
        allow(`request.tls.client.fingerprint_sha256 == "${known}" && request.tls.version == "TLSv1.3"`),
        allow('request.headers[?"svc-client-subject"].hasValue()'),
      ],
    },
  } as const
  const error: ErrorRule = {
    expression: 'error.code == 1017 && request.tls.client.present && !request.tls.client.verified',
    content: 'wrong one',
    contentType: 'text/plain',
    status: null,
    description: null,
  }
  const { ask } = await start(t, { zone, errors: { rules: [error] } })
  assert.equal((await ask(shown(alice))).status, 200)
  const claims = ['svc-client-subject: CN=alice', `svc-client-fingerprint: ${known}`]
  assert.equal(codeOf(await ask(shown(bob, middle.certificate), to('site.test', ...claims))), 1050)
  assert.equal(codeOf(await ask({ ...shown(alice), maxVersion: 'TLSv1.2' })), 1050)
  assert.equal((await ask(shown(stranger))).text, 'wrong one')
  assert.equal(codeOf(await ask()), 1017)
  // It was checked for the zone that has the address, and counts in no other.
  assert.equal((await ask({ servername: '', ...shown(alice) })).status, 200)
  assert.equal(codeOf(await ask({ servername: '', ...shown(alice) }, to('open.test'))), 1050)
})

test('only zones that want certificates ask for them', async t => {
  const { edge } = await start(t)
  const asks = async (servername: string) => {
    const to = ['-connect', `127.0.0.1:${edge.plane.securePort}`, '-servername', servername]
    const asking = run(process.env.OPENSSL ?? 'openssl', ['s_client', ...to, '-msg'])
    asking.child.stdin!.end('Q\n')
    return /<<< .*CertificateRequest/.test((await asking).stdout)
  }
  assert.deepEqual(
    [await asks('site.test'), await asks('soft.test'), await asks('open.test')],
    [true, true, false],
  )
})

test('the access log has the TLS of a connection, and the fingerprint of what its client showed', async t => {
  const { ask, askPlainly, edge } = await start(t)
  const fingerprintOf = ({ certificate }: typeof alice) =>
    new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase()
  const old = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' } as const
  await ask(shown(alice))
  await ask({ ...old, ...shown(stranger) })
  await ask({ servername: 'open.test' })
  await askPlainly(to('open.test'))
  const suites = ['TLS_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'] as const
  assert.deepEqual(
    edge.accesses.map(({ tls }) => tls),
    [
      { version: 'TLSv1.3', cipher: suites[0], client_fingerprint: fingerprintOf(alice) },
      { version: 'TLSv1.2', cipher: suites[1], client_fingerprint: fingerprintOf(stranger) },
      { version: 'TLSv1.3', cipher: suites[0], client_fingerprint: null },
      null,
    ],
  )
})

test('an explanation takes a certificate as accepted, and misses the one that it is not given', async t => {
  const { edge } = await start(t)
  const explain = async (clientCertificate: string | null, host = 'site.test') => {
    const [zone = ''] = host.split('.')
    const line = { method: 'GET', target: '/', host, headers: [], address: '127.0.0.1' }
    const asked = { ...line, zone, account: '', body: null, bodySize: null, clientCertificate }
    const explained = await edge.plane.explain(asked)
    assert.ok('explanation' in explained)
    return explained.explanation
  }
  const without = await explain(null)
  const secure = without.steps.find(({ step }) => step === 'secure')!
  assert.deepEqual([without.outcome, secure.error?.code], ['refused', 1017])
  assert.deepEqual(secure.compared, [{ what: 'client certificate', value: null, with: 'required' }])
  const given = await explain(alice.certificate)
  assert.equal(given.outcome, 'forwarded')
  const sent = given.forward!.fields.find(({ name }) => name === 'svc-client-subject')
  assert.deepEqual(sent, {
    name: 'svc-client-subject',
    change: 'added',
    value: 'CN=alice,O=Shop\\, Inc,C=DE',
  })
  assert.equal((await explain(null, 'open.test')).outcome, 'forwarded')
  assert.equal(edge.metrics.clientCertificates.missing.value, 0)
})

test('certificate names stay one line of ASCII, whatever they contain', async t => {
  const { ask, origin } = await start(t)
  const odd = root.issue([], of('/O=a \\+ b/O=x\\/y/CN=zoë\r\nHost: evil.test'))
  assert.equal((await ask(shown(odd))).status, 200)
  const { lines } = origin.requests.at(-1)!
  assert.equal(
    origin.requests.at(-1)!.field('svc-client-subject'),
    'CN=zo\\C3\\AB\\0D\\0AHost: evil.test,O=x/y,O=a \\+ b',
  )
  assert.equal(lines.join().match(/evil/g)?.length, 1)
})
