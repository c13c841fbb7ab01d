// What an authority that is broken or hostile can do: have an order fail in words, and be tried again rarely. Nothing that it says is served, followed or waited for without bounds.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { selfSigned } from '../../../src/process/demo/self-signed.ts'
import { AcmeServer, type Reply } from '../../help/acme-server.ts'
import { until } from '../../help/until.ts'
import { Machine, memory } from './machine.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

type Tampering = (response: Reply, server: AcmeServer) => Reply

/** Starts a machine whose authority tampers with the responses of these paths. */
async function startTampered(t: TestContext, path: string, tampering: Tampering) {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  server.tamper = (at, response) => (at.startsWith(path) ? tampering(response, server) : response)
  return { server, machine: await Machine.start(t, { server, store }) }
}

const withBody = (change: object | null) => (response: Reply) => ({
  ...response,
  body: change === null ? null : { ...(response.body as object), ...change },
})

const unreadable = /^the response of the authority cannot be read \(/

const cases: readonly (readonly [what: string, path: string, Tampering, said: RegExp])[] = [
  [
    'a certificate that is none',
    '/certificate',
    response => ({ ...response, body: 'nonsense' }),
    /^the certificate of the authority cannot be used \(.*PEM/,
  ],
  [
    'a chain that is cut',
    '/certificate',
    response => ({
      ...response,
      body: `${response.body}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    }),
    /^the certificate of the authority cannot be used \(/,
  ],
  [
    'a certificate for another key',
    '/certificate',
    response => ({ ...response, body: selfSigned('site.test').cert }),
    /^the certificate of the authority is for another key$/,
  ],
  [
    'a certificate that has expired',
    '/certificate',
    response => ({ ...response, body: selfSigned('site.test', -0.5).cert }),
    /^the certificate of the authority has expired$/,
  ],
  [
    'a certificate for another host',
    '/certificate',
    response => ({ ...response, body: selfSigned('evil.test').cert }),
    /^the certificate of the authority is for other hosts$/,
  ],
  ['an order without a word', '/order', response => ({ ...response, body: null }), unreadable],
  ['challenges that are no list', '/authorization', withBody({ challenges: null }), unreadable],
  ['challenges that are nothing', '/authorization', withBody({ challenges: [null] }), unreadable],
  [
    'a token that is a path',
    '/authorization',
    response => {
      const body = response.body as { readonly challenges: readonly object[] }
      const challenges = body.challenges.map(challenge => ({ ...challenge, token: '../../admin?<script>' }))
      return { ...response, body: { ...body, challenges } }
    },
    /^the authority sent a token that is not base64url$/,
  ],
  [
    'a redirect',
    '/directory',
    () => ({ status: 302, body: '', headers: { Location: 'http://127.0.0.1:1/' } }),
    /^the authority responded with 302$/,
  ],
  [
    'a response that switches protocols',
    '/directory',
    () => ({ status: 101, body: '', headers: { Connection: 'upgrade', Upgrade: 'other' } }),
    /^127\.0\.0\.1:\d+ unreachable \(the response switches protocols\)$/,
  ],
  [
    'a directory of another protocol',
    '/directory',
    withBody({ newNonce: 'file:///etc/passwd', newAccount: 'gopher://127.0.0.1/' }),
    /./,
  ],
  [
    'a response without end',
    '/order',
    response => ({ ...response, body: 'x'.repeat(1024 * 1024 + 1) }),
    /^the response of the authority is longer than 1 MiB$/,
  ],
]

for (const [what, path, tampering, said] of cases)
  test(`${what} is a failure in words, which is not repeated at once`, async t => {
    const { server, machine } = await startTampered(t, path, tampering)
    const { lastError, nextAt, certificate } = await machine.settled('failing')
    assert.match(lastError!.message, said)
    assert.equal(certificate, null)
    assert.ok(nextAt! > machine.clock.now() + minute)
    const asked = server.requests.length
    machine.orders.check()
    await machine.orders.idle()
    assert.equal(server.requests.length, asked)
    assert.deepEqual(
      machine.lines.filter(({ level }) => level === 'error'),
      [],
    )
  })

test('an authority that asks to be left alone for ages is tried again after a day', async t => {
  for (const retryAfter of ['99999999999', '9'.repeat(400)]) {
    const [server, store] = [await AcmeServer.start(t), await memory(t)]
    const headers = { 'Retry-After': retryAfter }
    server.refusals.push({
      path: '/order',
      problem: { status: 429, type: 'rateLimited', detail: 'no', headers },
    })
    const machine = await Machine.start(t, { server, store })
    const { nextAt } = await machine.settled('failing')
    const wait = nextAt! - machine.clock.now()
    assert.ok(wait > day - hour && wait <= day, `${wait}`)
    machine.clock.advance(day)
    await machine.settled()
  }
})

test('an authority that says to look again at once is not asked all the time', async t => {
  const asked: number[] = []
  const { machine } = await startTampered(t, '/order', response => {
    asked.push(performance.now())
    const body = { ...(response.body as object), status: 'processing' }
    return { ...response, body, headers: { ...response.headers, 'Retry-After': '0' } }
  })
  await until(() => asked.length >= 7)
  assert.ok(asked[6]! - asked[3]! > 500)
  await machine.stop()
})

test('a window that is always over has no certificate renewed twice within an hour', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  server.tamper = (path, response) =>
    path.startsWith('/renewal-info/')
      ? withBody({ suggestedWindow: { start: '1970-01-01T00:00:00Z', end: '1970-01-02T00:00:00Z' } })(
          response,
        )
      : response
  const machine = await Machine.start(t, { server, store })
  const { issuedAt } = await machine.settled()
  await until(() => machine.known.get('site.test')!.record.renewal!.window !== null)
  assert.equal(machine.known.get('site.test')!.record.renewal!.at, issuedAt! + hour)
  assert.equal(server.orders.length, 1)
  machine.clock.advance(hour)
  await until(() => server.orders.length === 2)
  await machine.settled()
})

test('a window that never comes has a certificate renewed while it lasts', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  server.tamper = (path, response) =>
    path.startsWith('/renewal-info/')
      ? withBody({ suggestedWindow: { start: '9998-01-01T00:00:00Z', end: '9999-01-01T00:00:00Z' } })(
          response,
        )
      : response
  const machine = await Machine.start(t, { server, store })
  const { notAfter } = await machine.settled()
  await until(() => machine.known.get('site.test')!.record.renewal!.window !== null)
  const { at } = machine.known.get('site.test')!.record.renewal!
  assert.ok(at < notAfter! - 8 * day && at > notAfter! - 10 * day)
})

test('a directory over https leads to no plain http, and nothing is sent there', async t => {
  const reached: string[] = []
  const inner = createServer((request, response) => {
    reached.push(request.url!)
    response.end('{}')
  })
  inner.listen(0, '127.0.0.1')
  await once(inner, 'listening')
  t.after(() => inner.close())
  const url = `http://127.0.0.1:${(inner.address() as AddressInfo).port}/metadata`
  const directory = { newNonce: url, newAccount: url, newOrder: url, meta: {} }
  const certificate = selfSigned('localhost')
  const { createServer: createSecurely } = await import('node:https')
  const server = createSecurely(certificate, (_, response) => {
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(directory))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { connectAuthority } = await import('../../../src/process/certificates/acme-authority.ts')
  const { newKey } = await import('../../../src/certificates/acme/account.ts')
  const authority = await connectAuthority(
    {
      ...{ directory: `https://localhost:${(server.address() as AddressInfo).port}/`, ca: certificate.cert },
      ...{ email: null, termsAgreed: true, binding: null, challenges: ['http-01'], hosts: ['site.test'] },
    },
    { key: await newKey(), url: null },
  )
  t.after(() => authority.close())
  await assert.rejects(authority.register(), {
    name: 'AcmeProblem',
    message: `the authority is reached over https, and refers to ${url}`,
  })
  assert.deepEqual(reached, [])
})

test('a bug in a question for the window is in the log, and the question comes again after a while', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  let calls = 0
  const random = () => {
    // The first is for the certificate, the second for the window.
    if (++calls === 2) throw new RangeError('a bug')
    return 0.5
  }
  const machine = await Machine.start(t, { server, store, random })
  await machine.logged('asking for a renewal window failed: internal error')
  const { failures } = await machine.settled()
  assert.equal(failures, 0)
  await machine.orders.idle()
  const asked = () => server.requests.filter(one => one.startsWith('GET /renewal-info/')).length
  machine.orders.check()
  await machine.orders.idle()
  assert.equal(asked(), 1)
  machine.clock.advance(2 * hour)
  await until(() => asked() === 2)
})

test('a bug in an order is in the log, and repeated as rarely as other failures', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  let isBroken = true
  const random = () => {
    if (!isBroken) return 0.5
    isBroken = false
    throw new RangeError('a bug')
  }
  const machine = await Machine.start(t, { server, store, random })
  const { lastError, nextAt } = await machine.settled('failing')
  assert.equal(lastError!.message, 'internal error')
  assert.ok(nextAt! > machine.clock.now() + minute)
  await machine.logged('certificate order failed: internal error')
  machine.clock.advance(3 * minute)
  await machine.settled()
})
