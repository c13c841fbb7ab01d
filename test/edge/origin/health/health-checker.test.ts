import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createSecureServer as createSecureHttp2, createServer as createHttp2 } from 'node:http2'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { type Clock, systemClock } from '../../../../src/base/clock.ts'
import { EdgeMetrics } from '../../../../src/metrics/counters/edge-metrics.ts'
import { createLogger } from '../../../../src/log/log.ts'
import type { OriginConfig, OriginTls } from '../../../../src/config/model/config.ts'
import {
  type CheckConfig,
  type TransportConfig,
  usualTransport,
} from '../../../../src/config/model/pool-config.ts'
import {
  checkedOrigins,
  checkKey,
  HealthChecker,
  type KeyedCheckResult,
} from '../../../../src/edge/origin/health/health-checker.ts'
import { NameLookup } from '../../../../src/edge/resolver/name-lookup.ts'
import { selfSigned } from '../../../../src/process/demo/self-signed.ts'
import { ManualClock } from '../../../help/clock.ts'
import { startDns } from '../../../help/dns.ts'
import { edgeConfig } from '../../../help/edge.ts'
import { deadOrigin, ok, startOrigin, startResponder } from '../../../help/origin.ts'

const often: CheckConfig = {
  path: '/health?deep',
  host: null,
  interval: 20,
  timeout: 20_000,
  healthy: 2,
  unhealthy: 3,
  least: 200,
  most: 399,
}

function at(url: string, transport: Partial<TransportConfig> = {}): OriginConfig {
  return edgeConfig([url], { transport }).zones[0]!.routes[0]!.pool!.origins[0]!
}

class Checks {
  readonly told: KeyedCheckResult[] = []
  readonly lines: Record<string, unknown>[] = []
  readonly metrics = new EdgeMetrics()
  readonly checker: HealthChecker
  readonly #news = new EventEmitter()

  constructor(t: TestContext, lookup?: NameLookup, clock: Clock = systemClock) {
    this.checker = new HealthChecker({
      clock,
      log: createLogger('info', { write: (line: string) => this.lines.push(JSON.parse(line)) }),
      metrics: this.metrics,
      onResults: results => {
        this.told.push(...results)
        this.#news.emit('results')
      },
      ...(lookup && { lookup }),
    })
    t.after(() => this.checker.stop())
  }

  /** Gives the first result from now on that is such. */
  async next(isSuch: (result: KeyedCheckResult) => boolean = () => true): Promise<KeyedCheckResult> {
    for (let read = this.told.length; ; ) {
      while (read === this.told.length) await once(this.#news, 'results')
      const result = this.told[read++]!
      if (isSuch(result)) return result
    }
  }
}

test('a check is a GET on its own connection, with the path, the host and a user agent', async t => {
  const origin = await startResponder(t, ok('fine'))
  const checks = new Checks(t)
  const checked = at(origin.url)
  checks.checker.watch([{ origin: checked, check: often }])
  const result = await checks.next()
  const [request] = origin.requests
  assert.equal(request!.startLine, 'GET /health?deep HTTP/1.1')
  assert.equal(request!.field('host'), `127.0.0.1:${origin.port}`)
  assert.equal(request!.field('user-agent'), 'gatehouse-check')
  assert.equal(request!.field('connection'), 'close')
  assert.equal(result.key, checkKey(checked, often))
  assert.deepEqual([result.isUp, result.lastStatus, result.lastError], [true, 200, null])
  assert.ok(result.lastDuration > 0 && result.lastCheckAt <= result.nextCheckAt)
  assert.deepEqual(checks.checker.results.at(-1), result)
  await checks.next()
  assert.equal(origin.wires.length >= 2, true)
})

test('the host of a check can be set', async t => {
  const origin = await startResponder(t, ok())
  const checks = new Checks(t)
  checks.checker.watch([{ origin: at(origin.url), check: { ...often, host: 'shop.example' } }])
  await checks.next()
  assert.equal(origin.requests[0]!.field('host'), 'shop.example')
})

test('checks come in their interval, give or take a tenth, and say when the next one is', async t => {
  const origin = await startResponder(t, ok())
  // One that stands still: no time passes in a check.
  const clock = new ManualClock()
  const checks = new Checks(t, undefined, clock)
  checks.checker.watch([{ origin: at(origin.url), check: { ...often, interval: 200 } }])
  for (let i = 0; i < 3; i++) {
    const { nextCheckAt } = await checks.next()
    const toldAt = performance.now()
    const ahead = nextCheckAt - clock.now()
    assert.ok(ahead >= 180 && ahead <= 220, `${ahead} ms ahead`)
    await checks.next()
    const gap = performance.now() - toldAt
    assert.ok(gap > 150, `a gap of ${gap} ms`)
  }
})

test('an origin is down after bad checks in a row, and up after good ones', async t => {
  let status = 200
  const origin = await startResponder(t, () => `HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`)
  const checks = new Checks(t)
  checks.checker.watch([{ origin: at(origin.url), check: often }])
  const { since } = await checks.next()
  status = 503
  const down = await checks.next(({ isUp }) => !isUp)
  const before = checks.told.slice(0, checks.told.indexOf(down) + 1)
  assert.deepEqual(
    before.slice(-4).map(({ isUp, lastStatus }) => [isUp, lastStatus]),
    [
      [true, 200],
      [true, 503],
      [true, 503],
      [false, 503],
    ],
  )
  assert.ok(down.since > since)
  status = 204
  const up = await checks.next(({ isUp }) => isUp)
  const after = checks.told.slice(checks.told.indexOf(down) + 1, checks.told.indexOf(up) + 1)
  assert.deepEqual(
    after.slice(-2).map(({ isUp, lastStatus, since }) => [isUp, lastStatus, since > down.since]),
    [
      [false, 204, false],
      [true, 204, true],
    ],
  )
  assert.deepEqual(
    checks.lines.map(({ level, origin: url }) => [level, url]),
    [
      ['warn', origin.url],
      ['info', origin.url],
    ],
  )
  assert.ok(checks.metrics.originChecks.bad.value >= 3)
  assert.ok(checks.metrics.originChecks.good.value >= 3)
})

test('contrary checks count in a row: one of the other kind starts over', async t => {
  // Three bad ones in a row take it down, and two good ones bring it back.
  const statuses = [500, 500, 200, 500, 500, 200, 500, 500, 500, 200, 500, 200, 500, 200, 200]
  let nth = 0
  const origin = await startResponder(
    t,
    () => `HTTP/1.1 ${statuses[nth++] ?? 200} X\r\nContent-Length: 0\r\n\r\n`,
  )
  const checks = new Checks(t)
  checks.checker.watch([{ origin: at(origin.url), check: often }])
  while (checks.told.length < statuses.length) await checks.next()
  assert.deepEqual(
    checks.told.slice(0, statuses.length).map(({ isUp }) => isUp),
    statuses.map((_, i) => i < 8 || i === 14),
  )
})

for (const [status, isGood] of [
  [200, true],
  [302, true],
  [399, true],
  [400, false],
] as const) {
  test(`a status of ${status} is ${isGood ? 'good' : 'bad'} where 200 to 399 are, and no redirect is followed`, async t => {
    const origin = await startResponder(
      t,
      `HTTP/1.1 ${status} X\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n`,
    )
    const checks = new Checks(t)
    checks.checker.watch([{ origin: at(origin.url), check: { ...often, unhealthy: 1 } }])
    assert.equal((await checks.next()).isUp, isGood)
    assert.ok(origin.requests.every(({ target }) => target === '/health?deep'))
  })
}

const failures: Record<string, [code: string, start: (t: TestContext) => Promise<{ readonly url: string }>]> =
  {
    'does not listen': ['ECONNREFUSED', async () => deadOrigin()],
    'does not answer': ['GH_RESPONSE_TIMEOUT', t => startOrigin(t, wire => wire.ending)],
    'hangs up': ['ECONNRESET', t => startOrigin(t, wire => wire.request())],
    'speaks no HTTP': ['HPE_INVALID_CONSTANT', t => startOrigin(t, wire => wire.send('SSH-2.0-x\r\n\r\n'))],
    'switches protocols unasked': [
      'GH_CLOSED',
      t => startResponder(t, 'HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
    ],
  }

for (const [what, [code, start]] of Object.entries(failures)) {
  test(`an origin that ${what} fails its check with ${code}`, async t => {
    const { url } = await start(t)
    const checks = new Checks(t)
    checks.checker.watch([{ origin: at(url), check: { ...often, timeout: 1_000, unhealthy: 1 } }])
    const { isUp, lastStatus, lastError } = await checks.next()
    assert.deepEqual([isUp, lastStatus, lastError], [false, null, code])
  })
}

test('the certificate of an origin is checked as for requests', async t => {
  const { key, cert } = selfSigned('origin.test')
  const named: (string | false)[] = []
  const server = createServer({ key, cert }, (_, answer) => answer.end())
  server.on('secureConnection', socket =>
    named.push((socket as TLSSocket & { servername: string }).servername),
  )
  t.after(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const checks = new Checks(t)
  const verdict = async (tls: Partial<OriginTls>) => {
    const origin = at(`https://127.0.0.1:${port}`)
    const checked = { ...origin, tls: { ...origin.tls, ...tls } }
    const check = { ...often, host: 'shop.example' }
    checks.checker.watch([{ origin: checked, check }])
    const { lastStatus, lastError } = await checks.next(result => result.key === checkKey(checked, check))
    return lastStatus ?? lastError
  }
  assert.equal(await verdict({}), 'DEPTH_ZERO_SELF_SIGNED_CERT')
  assert.equal(await verdict({ ca: cert }), 'ERR_TLS_CERT_ALTNAME_INVALID')
  named.length = 0
  assert.equal(await verdict({ verify: false }), 200)
  assert.equal(named[0], false, 'an address is not named')
  named.length = 0
  assert.equal(await verdict({ ca: cert, serverName: 'origin.test' }), 200)
  assert.equal(named[0], 'origin.test')
})

test('an origin of HTTP/2 is checked by that, and by HTTP/1.1 where it offers no more', async t => {
  const certificate = selfSigned('origin.test')
  const asked: string[] = []
  const respond = (
    incoming: { httpVersion: string; url?: string | undefined },
    outgoing: { end(): unknown },
  ) => {
    asked.push(`${incoming.httpVersion} ${incoming.url}`)
    outgoing.end()
  }
  const servers = [
    { server: createHttp2(respond), protocol: 'http', http: 'h2c' },
    { server: createSecureHttp2(certificate, respond), protocol: 'https', http: '2' },
    { server: createServer(certificate, respond), protocol: 'https', http: '2' },
  ] as const
  const checks = new Checks(t)
  for (const { server, protocol, http } of servers) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => void server.close())
    const origin = at(`${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`, { http })
    const checked = { ...origin, tls: { ...origin.tls, verify: false } }
    checks.checker.watch([{ origin: checked, check: often }])
    const { lastStatus } = await checks.next(result => result.key === checkKey(checked, often))
    assert.equal(lastStatus, 200)
    assert.equal(asked.at(-1), `${servers[2].server === server ? '1.1' : '2.0'} /health?deep`)
  }
  const { url } = await deadOrigin()
  const origin = at(url, { http: 'h2c' })
  checks.checker.watch([{ origin, check: often }])
  const { lastError } = await checks.next(result => result.key === checkKey(origin, often))
  assert.equal(lastError, 'ECONNREFUSED')
})

test('an origin that requires a certificate is checked with that of its pool', async t => {
  const { key, cert } = selfSigned('origin.test')
  const ours = selfSigned('gateway.test')
  const seen: string[] = []
  const server = createServer({ key, cert, requestCert: true, ca: ours.cert }, (_, answer) => answer.end())
  server.on('secureConnection', socket =>
    seen.push((socket as TLSSocket).getPeerCertificate().subject.CN as string),
  )
  t.after(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const origin = at(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const checks = new Checks(t)
  for (const identity of [null, { certificate: ours.cert, key: ours.key }]) {
    const checked = { ...origin, tls: { ...origin.tls, verify: false, identity } }
    checks.checker.watch([{ origin: checked, check: often }])
    const { lastStatus } = await checks.next(result => result.key === checkKey(checked, often))
    assert.equal(lastStatus, identity === null ? null : 200)
  }
  assert.equal(seen[0], 'gateway.test')
})

test('a body without end is cut', async t => {
  const poured = Promise.withResolvers<number>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send('HTTP/1.1 200 OK\r\n\r\n')
    poured.resolve(await wire.pour())
  })
  const checks = new Checks(t)
  checks.checker.watch([{ origin: at(origin.url), check: { ...often, interval: 60_000 } }])
  assert.equal((await checks.next()).lastStatus, 200)
  assert.ok((await poured.promise) < 64 * 2 ** 20)
})

test('names are looked up at each check, and any address is enough', async t => {
  const origin = await startResponder(t, ok())
  const dns = await startDns(t)
  dns.addresses('origin.test', ['127.0.0.2', '127.0.0.1'])
  const checks = new Checks(t, new NameLookup({ servers: [dns.address] }))
  checks.checker.watch([
    { origin: at(`http://origin.test:${origin.port}`), check: { ...often, unhealthy: 1 } },
  ])
  assert.equal((await checks.next()).lastStatus, 200)
  assert.equal(origin.requests[0]!.field('host'), `origin.test:${origin.port}`)
  dns.fail('origin.test', 'no_such_name')
  const { isUp, lastError } = await checks.next(({ lastStatus }) => lastStatus === null)
  assert.deepEqual([isUp, lastError], [false, 'ENOTFOUND'])
})

test('an origin whose DNS server does not respond, or fails, is checked where it was', async t => {
  const origin = await startResponder(t, ok())
  const dns = await startDns(t)
  dns.addresses('origin.test', ['127.0.0.1'])
  const checks = new Checks(t, new NameLookup({ servers: [dns.address] }))
  const check = { ...often, timeout: 2_000, unhealthy: 1 }
  checks.checker.watch([{ origin: at(`http://origin.test:${origin.port}`), check }])
  for (const failure of ['server_failure', 'silence'] as const) {
    await checks.next()
    const asked = dns.count('origin.test')
    dns.fail('origin.test', failure)
    await dns.asked('origin.test', asked + 2)
    for (let i = 0; i < 5; i++) assert.equal((await checks.next()).lastStatus, 200)
  }
})

test('no check goes to an address that no request may go to', async t => {
  const origin = await startResponder(t, ok())
  const dns = await startDns(t)
  dns.addresses('origin.test', ['127.0.0.1'])
  const checks = new Checks(t, new NameLookup({ servers: [dns.address] }))
  const check = { ...often, unhealthy: 1 }
  const codes = async (checked: OriginConfig) => {
    checks.checker.watch([{ origin: checked, check }])
    return (await checks.next(({ key }) => key === checkKey(checked, check))).lastError
  }
  const [url, named] = [origin.url, `http://origin.test:${origin.port}`]
  assert.equal(await codes(at(url, { addresses: 'public' })), 'GH_PROHIBITED_ADDRESS')
  assert.equal(await codes(at(named, { addresses: 'public' })), 'GH_PROHIBITED_ADDRESS')
  checks.checker.ownEndpoints = [{ host: '127.0.0.1', port: origin.port }]
  assert.equal(await codes(at(url)), 'GH_OWN_ADDRESS')
  assert.equal(await codes(at(named)), 'GH_OWN_ADDRESS')
  assert.equal(origin.wires.length, 0)
})

test('a reload continues checks that stay, starts new ones and ends removed ones', async t => {
  let status = 503
  const kept = await startResponder(t, () => `HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`)
  const [gone, fresh] = [await startResponder(t, ok()), await startResponder(t, ok())]
  const checks = new Checks(t)
  const checked = { origin: at(kept.url), check: often }
  checks.checker.watch([checked, { origin: at(gone.url), check: often }])
  await checks.next(({ isUp }) => !isUp)
  while (gone.requests.length === 0) await checks.next()
  checks.checker.watch([checked, { origin: at(fresh.url), check: often }, checked])
  assert.equal(checks.checker.results.find(({ key }) => key === checkKey(checked.origin, often))?.isUp, false)
  await checks.next(({ key }) => key === checkKey(at(fresh.url), often))
  const asked = gone.requests.length
  for (let i = 0; i < 10; i++) assert.notEqual((await checks.next()).key, checkKey(at(gone.url), often))
  assert.equal(gone.requests.length, asked)
  status = 200
  await checks.next(
    ({ isUp, lastStatus, key }) => isUp && lastStatus === 200 && key === checkKey(checked.origin, often),
  )
  checks.checker.stop()
  assert.deepEqual(checks.checker.results, [])
})

test('an origin whose settings change stays down or up as it was, and is known at once', async t => {
  const origin = await startResponder(t, 'HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n')
  const checks = new Checks(t)
  checks.checker.watch([{ origin: at(origin.url), check: often }])
  const { since } = await checks.next(({ isUp }) => !isUp)
  const changed = [
    { origin: at(origin.url, { addresses: 'any', connections: 7 }), check: often },
    { origin: at(origin.url), check: { ...often, interval: 60_000, unhealthy: 9 } },
  ]
  const keys = changed.map(({ origin, check }) => checkKey(origin, check))
  const elsewhere = { origin: at(origin.url), check: { ...often, path: '/elsewhere' } }
  const expected = keys.map(key => ({ key, isUp: false, since, lastStatus: 503 }))
  const known = (results: readonly KeyedCheckResult[]) =>
    results.map(({ key, isUp, since, lastStatus }) => ({ key, isUp, since, lastStatus }))
  checks.checker.watch([...changed, elsewhere])
  assert.deepEqual(known(checks.checker.results), expected)
  const next = await checks.next(({ key }) => keys.includes(key))
  assert.deepEqual([next.isUp, next.since], [false, since])
  assert.equal((await checks.next(({ key }) => !keys.includes(key))).isUp, true)
})

test('a check that is running when the checker stops is not reported', async t => {
  const origin = await startOrigin(t, wire => wire.ending)
  const checks = new Checks(t)
  checks.checker.watch([{ origin: at(origin.url), check: often }])
  const wire = await origin.wire()
  checks.checker.stop()
  await wire.ending
  await new Promise(setImmediate)
  assert.deepEqual(checks.told, [])
})

test('the origins to check are listed once for each pool', () => {
  const settings = { pool: { check: often } }
  const config = edgeConfig(['http://127.0.0.1:1', 'http://127.0.0.1:2'], settings)
  const [zone] = config.zones
  const again = { ...zone!, routes: [...zone!.routes, ...zone!.routes] }
  const found = checkedOrigins({ ...config, zones: [again, ...edgeConfig(['http://127.0.0.1:3']).zones] })
  assert.deepEqual(
    found.map(({ origin, check }) => [origin.url, check]),
    [
      ['http://127.0.0.1:1', often],
      ['http://127.0.0.1:2', often],
    ],
  )
  assert.notEqual(checkKey(found[0]!.origin, often), checkKey(found[1]!.origin, often))
  assert.notEqual(
    checkKey(found[0]!.origin, often),
    checkKey({ ...found[0]!.origin, transport: { ...usualTransport, addresses: 'public' } }, often),
  )
})

test('a bug after a check is logged, does not concern the origin, and the next check follows', async t => {
  const origin = await startResponder(t, ok())
  const checks = new Checks(t)
  const broken = t.mock.method(checks.metrics.originChecks.good, 'inc', () => {
    broken.mock.restore()
    throw new RangeError('planted')
  })
  checks.checker.watch([{ origin: at(origin.url), check: often }])
  assert.equal((await checks.next()).isUp, true)
  assert.equal(checks.lines.length, 1)
  assert.deepEqual([checks.lines[0]!.level, checks.lines[0]!.origin], ['error', origin.url])
})
