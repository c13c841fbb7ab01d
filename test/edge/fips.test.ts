// Zones that take only approved algorithms, over real connections.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { type ConnectionOptions, connect } from 'node:tls'
import { Authority } from '../help/certificates.ts'
import { codeOf, Edge, edgeConfig, listenAt, zoneTo } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { Wire } from '../help/raw.ts'

const authority = new Authority()
const identities = [
  authority.issue(['fips.test', 'open.test']),
  authority.issue(['fips.test', 'open.test'], { key: 'rsa' }),
]

async function start(t: TestContext) {
  const origin = await startResponder(t, () => ok('hello'))
  const usual = zoneTo([origin.url])
  const zoneFor = (name: string, fips: boolean) => ({
    ...usual,
    name,
    hosts: [`${name}.test`],
    tls: { ...usual.tls, fips },
  })
  const config = {
    ...edgeConfig([origin.url]),
    zones: [zoneFor('fips', true), zoneFor('open', false)],
    listen: [false, true].map(tls => ({ host: '127.0.0.1', port: 0, tls })),
    tls: { certificates: identities, minVersion: 'TLSv1.2' } as const,
  }
  const edge = await listenAt(t, new Edge(t, config))
  const ask = async (options: ConnectionOptions = {}) => {
    const { servername = 'fips.test' } = options
    const given = { host: '127.0.0.1', port: edge.plane.securePort, ca: authority.certificate, ...options }
    const socket = connect({ ...given, servername })
    t.after(() => socket.destroy())
    await once(socket, 'secureConnect')
    let session: Buffer | undefined
    socket.on('session', made => (session = made))
    const wire = new Wire(socket)
    await wire.send(`GET / HTTP/1.1\r\nHost: ${servername}\r\nAccept: application/json\r\n\r\n`)
    const response = await wire.response()
    const { name } = socket.getEphemeralKeyInfo() as { name?: string }
    const code = response.status === 200 ? null : codeOf(response)
    const agreed = { suite: socket.getCipher().standardName, curve: name }
    const made = session ?? socket.getSession()
    return { response, code, ...agreed, session: made, isResumed: socket.isSessionReused() }
  }
  return { edge, origin, ask, config, zoneFor }
}

test('a client that prefers something else is led to what is approved, in that zone alone', async t => {
  const { ask } = await start(t)
  const preferring = {
    ecdhCurve: 'X25519:P-256',
    ciphers: 'TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256',
  }
  const led = await ask(preferring)
  assert.deepEqual([led.code, led.curve, led.suite], [null, 'prime256v1', 'TLS_AES_128_GCM_SHA256'])
  assert.equal((await ask({ ...preferring, servername: 'open.test' })).curve, 'X25519')
  const old = { maxVersion: 'TLSv1.2' } as const
  for (const [key, own] of [
    ['ECDSA', 'prime256v1'],
    ['RSA', 'secp384r1'],
  ] as const) {
    const ciphers = `ECDHE-${key}-CHACHA20-POLY1305:ECDHE-${key}-AES256-GCM-SHA384`
    const { code, curve, suite } = await ask({ ...old, ecdhCurve: `X25519:${own}`, ciphers })
    assert.deepEqual([code, curve], [null, own])
    assert.equal(suite, `TLS_ECDHE_${key}_WITH_AES_256_GCM_SHA384`)
  }
})

test('a client that knows nothing approved gets 1044, and no origin hears of it', async t => {
  const { ask, origin } = await start(t)
  const weak: readonly ConnectionOptions[] = [
    { ecdhCurve: 'X25519' },
    { ciphers: 'TLS_CHACHA20_POLY1305_SHA256' },
    { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305' },
    { maxVersion: 'TLSv1.2', ecdhCurve: 'X25519' },
  ]
  for (const options of weak) {
    const { code, response } = await ask(options)
    assert.deepEqual([code, response.field('connection')], [1044, 'close'], JSON.stringify(options))
    assert.equal((await ask({ ...options, servername: 'open.test' })).code, null)
  }
  assert.equal(origin.requests.length, weak.length)
})

for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
  test(`a session of ${version} whose keys are not approved is not resumed there`, async t => {
    const { ask, edge, config, zoneFor } = await start(t)
    const only = { minVersion: version, maxVersion: version }
    // For a host of the same certificate, whose sessions are sealed by the same keys.
    const { session } = await ask({ ...only, servername: 'open.test', ecdhCurve: 'X25519:P-256' })
    const led = await ask({ ...only, session, ecdhCurve: 'X25519:P-256' })
    assert.deepEqual([led.code, led.isResumed], [null, false])
    const again = await ask({ ...only, session: led.session, ecdhCurve: 'P-256' })
    assert.deepEqual([again.code, again.isResumed], [null, true])
    // What was agreed on before a reload counts.
    edge.reload({ ...config, zones: [zoneFor('fips', false), zoneFor('open', true)] })
    const before = await ask({ ...only, servername: 'open.test', session, ecdhCurve: 'X25519:P-256' })
    assert.deepEqual([before.code, before.isResumed], [null, false])
  })
