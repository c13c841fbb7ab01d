// Orders against an authority on loopback that validates by connecting to a real edge, over SQLite and, where several machines matter, Redis.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import { acmeOwner, type HostCertificate } from '../../../src/store/records/acme.ts'
import { AcmeServer } from '../../help/acme-server.ts'
import { freePort } from '../../help/free-port.ts'
import { until } from '../../help/until.ts'
import { LeapingClock, Machine, memory } from './machine.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

for (const type of ['http-01', 'tls-alpn-01'] as const)
  test(`a first certificate is got by ${type}, kept with its key sealed, and served`, async t => {
    const [server, store] = [await AcmeServer.start(t), await memory(t)]
    const machine = await Machine.start(t, { server, store, config: { challenges: [type] } })
    const standing = await machine.settled()
    assert.equal((await machine.shown(server.ca)).subjectAltName, 'DNS:site.test')
    assert.equal(server.orders.length, 1)
    assert.equal(server.orders[0]!.provenBy, type)
    assert.deepEqual(server.faults, [])
    assert.deepEqual(machine.results, ['issued'])
    assert.equal(standing.directory, server.directory)
    const { record } = (await store.certificates.get(acmeOwner, 'site.test'))!
    const { items } = await store.acmeAccounts.list(acmeOwner, { offset: 0, limit: 9 })
    assert.doesNotMatch(JSON.stringify([record, items]), /PRIVATE KEY/)
    assert.deepEqual(
      [...server.accounts.values()].map(({ contact }) => contact),
      [['mailto:ops@site.test']],
    )
    assert.equal(record.order, null)
    assert.deepEqual(machine.edge.plane.snapshot.challenges.isEmpty, true)
    assert.match(
      JSON.stringify(await machine.logged('certificate issued')),
      /"host":"site\.test","expires":"/,
    )
  })

test('a restart serves what the store has, and orders nothing', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const first = await Machine.start(t, { server, store })
  await first.settled()
  const { serialNumber } = await first.shown(server.ca)
  await first.stop()
  const requests = server.requests.length
  const second = await Machine.start(t, { server, store })
  second.orders.check()
  await second.orders.idle()
  assert.equal((await second.shown(server.ca)).serialNumber, serialNumber)
  assert.equal(server.orders.length, 1)
  const asked = server.requests
    .slice(requests)
    .filter(request => !/renewal-info|directory|nonce/.test(request))
  assert.deepEqual(asked, [])
})

test('when two machines start at the same time, one orders the certificate, and both answer challenges and serve it', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const hosts = ['site.test', 'other.test', 'third.test']
  const machines = await Promise.all([1, 2].map(() => Machine.start(t, { server, store, hosts })))
  for (const machine of machines) for (const host of hosts) await machine.settled('valid', host)
  assert.equal(server.orders.length, 3)
  assert.equal(server.accounts.size, 1)
  const serials = machines.map(machine => machine.shown(server.ca))
  const [one, other] = await Promise.all(serials)
  assert.equal(one!.serialNumber, other!.serialNumber)
  // Whoever ordered, the authority asked the machine that started last.
  assert.ok(server.orders.every(({ provenBy }) => provenBy !== null))
  assert.deepEqual(server.faults, [])
})

test('an order that a machine has left is gone on with by another one, with the same key and no second order', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const validating = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  server.beforeValidation = () => {
    validating.resolve()
    return held.promise
  }
  const first = await Machine.start(t, { server, store })
  await validating.promise
  const second = await Machine.start(t, { server, store })
  second.orders.check()
  await second.orders.idle()
  assert.equal(server.orders.length, 1, 'one has it')
  await first.stop()
  held.resolve()
  await second.settled()
  assert.equal(server.orders.length, 1)
  assert.equal((await second.shown(server.ca)).subjectAltName, 'DNS:site.test')
  assert.equal((await second.logged('certificate order started')).resumed, true)
})

test('an order that has expired since is given up for a new one', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const validating = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  server.beforeValidation = () => {
    validating.resolve()
    return held.promise
  }
  const first = await Machine.start(t, { server, store })
  await validating.promise
  await first.stop()
  server.orders[0]!.status = 'invalid'
  server.beforeValidation = async () => {}
  const second = await Machine.start(t, { server, store })
  await second.settled()
  held.resolve()
  assert.deepEqual([server.orders.length, second.results], [2, ['issued']])
})

for (const [how, age, orders] of [
  ['less than a day is gone on with', day - minute, 1],
  ['more than a day is given up for a new one', day + minute, 2],
] as const)
  test(`an order that was left for ${how}`, async t => {
    const [server, store] = [await AcmeServer.start(t), await memory(t)]
    const validating = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    server.beforeValidation = () => {
      validating.resolve()
      return held.promise
    }
    const first = await Machine.start(t, { server, store })
    await validating.promise
    await first.stop()
    server.beforeValidation = async () => {}
    held.resolve()
    const clock = new LeapingClock()
    clock.advance(age)
    const second = await Machine.start(t, { server, store, clock })
    await second.settled()
    assert.deepEqual([server.orders.length, second.results], [orders, ['issued']])
  })

test('a machine that is gone without a word is followed after a while, and cannot write any more', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const machine = await Machine.start(t, { server, store, hosts: [] })
  const record: Omit<HostCertificate, 'lease'> = {
    account: acmeOwner,
    id: 'site.test',
    createdAt: Date.now(),
    ...{ issued: null, order: null, renewal: null, requestedAt: null },
    ...{ failures: 0, restUntil: null, lastError: null },
  }
  await store.certificates.insert({ ...record, lease: { holder: 'gone', beat: 3 } })
  await until(() => machine.known.get('site.test') !== null)
  machine.follow({ hosts: ['site.test'] })
  await machine.orders.idle()
  assert.equal(server.orders.length, 0)
  const { version } = (await store.certificates.get(acmeOwner, 'site.test'))!
  machine.clock.advance(36_000)
  await machine.settled()
  assert.equal(server.orders.length, 1)
  assert.equal(
    await store.certificates.replace({ ...record, lease: { holder: 'gone', beat: 4 } }, version),
    false,
  )
})

test('an authority that asks to be left alone is, by all hosts, through a restart, and for as long as it says', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const clock = new LeapingClock()
  const detail = 'too many certificates already issued for "site.test"'
  server.refusals.push({
    path: '/order',
    problem: { status: 429, type: 'rateLimited', detail, headers: { 'Retry-After': '7200' } },
  })
  const first = await Machine.start(t, { server, store, clock })
  const failing = await first.settled('failing')
  assert.deepEqual(first.results, ['rate_limited'])
  assert.equal(failing.lastError!.message, `rateLimited: ${detail}`)
  assert.ok(Math.abs(failing.nextAt! - clock.now() - 2 * hour) < minute, 'the wait of Retry-After')
  await first.stop()
  const requests = server.requests.length
  const second = await Machine.start(t, { server, store, clock, hosts: ['site.test', 'other.test'] })
  clock.advance(14 * minute)
  second.orders.check()
  await second.orders.idle()
  assert.equal(server.requests.length, requests, 'not a word')
  clock.advance(2 * minute)
  await second.settled('valid', 'other.test')
  clock.advance(hour)
  second.orders.check()
  await second.orders.idle()
  assert.equal(server.orders.filter(({ host }) => host === 'site.test').length, 0)
  clock.advance(hour)
  await second.settled()
  assert.equal(second.standing().lastError, null)
})

test('what was to be waited for by a clock that was years ahead is not waited for', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const ahead = new LeapingClock()
  ahead.advance(5 * 365 * day)
  const problem = { status: 429, type: 'rateLimited', detail: 'later', headers: { 'Retry-After': '7200' } }
  server.refusals.push({ path: '/order', problem })
  const first = await Machine.start(t, { server, store, clock: ahead })
  await first.settled('failing')
  await first.stop()
  const second = await Machine.start(t, { server, store })
  await second.settled()
  assert.deepEqual(second.results, ['issued'])
})

test('an authority that is down is tried ever more rarely, and gets the order once it is up', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const port = await freePort()
  const directory = `http://127.0.0.1:${port}/directory`
  const machine = await Machine.start(t, { server, store, config: { directory } })
  const waits: number[] = []
  for (let failures = 1; failures <= 4; failures++) {
    await until(
      () => machine.standing().failures === failures && machine.known.get('site.test')!.record.lease === null,
    )
    const { nextAt, lastError } = machine.standing()
    assert.match(lastError!.message, /^127\.0\.0\.1:\d+ unreachable \(ECONNREFUSED\)$/)
    waits.push(Math.round((nextAt! - machine.clock.now()) / minute))
    machine.clock.advance(nextAt! - machine.clock.now() + 15 * minute)
  }
  assert.deepEqual(waits, [2, 4, 8, 16])
  assert.ok(machine.results.every(result => result === 'unreachable'))
  machine.follow({ directory: server.directory })
  await machine.settled()
})

test('a challenge that fails is shown with its host and the words of the authority, and the next attempt tries the other one', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const machine = await Machine.start(t, { server, store, hosts: [] })
  server.ports = { ...machine.ports, http: await freePort() }
  machine.follow({ hosts: ['site.test'] })
  const { lastError, nextAt } = await machine.settled('failing')
  assert.match(lastError!.message, /^unauthorized: 127\.0\.0\.1: site\.test: connect ECONNREFUSED/)
  const line = await machine.logged('certificate order failed')
  assert.equal(line.host, 'site.test')
  assert.equal(line.reason, lastError!.message)
  assert.ok(nextAt! > machine.clock.now() + minute)
  machine.clock.advance(3 * minute)
  await machine.settled()
  assert.equal(server.orders[1]!.provenBy, 'tls-alpn-01')
  assert.deepEqual(server.faults, [])
})

test('a certificate is renewed in the window of the authority, in place of the one before, which is served meanwhile', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const machine = await Machine.start(t, { server, store })
  await machine.settled()
  const { clock } = machine
  await until(() => machine.known.get('site.test')!.record.renewal!.window !== null)
  const life = 90 * day
  const { at } = machine.known.get('site.test')!.record.renewal!
  assert.ok(Math.abs(at - clock.now() - 0.625 * life) < hour, 'the middle of 0.6 to 0.65')
  // The authority wants it now: a certificate that is to be revoked.
  const [id] = server.idsOf('site.test')
  server.windows.set(id!, [clock.now() - day, clock.now() - hour])
  const before = await machine.shown(server.ca)
  server.beforeIssue = async () => {
    assert.equal((await machine.shown(server.ca)).serialNumber, before.serialNumber)
  }
  clock.advance(6 * hour + minute)
  await until(() => server.orders.length === 2 && server.orders[1]!.status === 'valid')
  await machine.settled()
  assert.equal(server.orders[1]!.replaces, id)
  assert.notEqual((await machine.shown(server.ca)).serialNumber, before.serialNumber)
  assert.equal((await machine.logged('certificate order started', 1)).renewal, true)
  assert.deepEqual(server.faults, [])
})

test('without a word of the authority a certificate is renewed at two thirds of its life', async t => {
  const [server, store] = [await AcmeServer.start(t, { ari: false }), await memory(t)]
  const machine = await Machine.start(t, { server, store, random: () => 0 })
  const { nextAt, notAfter, issuedAt } = await machine.settled()
  assert.ok(Math.abs(nextAt! - (issuedAt! + (2 / 3) * (notAfter! - issuedAt!))) < minute)
  // What is issued next is as old as the clock is ahead.
  server.days = 900
  machine.clock.advance(59 * day)
  machine.orders.check()
  await machine.orders.idle()
  assert.equal(server.orders.length, 1)
  machine.clock.advance(day + hour)
  await until(() => server.orders.length === 2)
  await machine.settled()
  assert.equal(server.orders[1]!.replaces, null)
})

test('hosts that come are ordered, hosts that leave are not renewed, and come back without an order', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const machine = await Machine.start(t, { server, store })
  await machine.settled()
  machine.follow({ hosts: ['new.test'] })
  await machine.settled('valid', 'new.test')
  await assert.rejects(machine.shown(server.ca), { code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' })
  server.days = 900
  machine.clock.advance(70 * day)
  await until(() => server.orders.filter(({ host }) => host === 'new.test').length === 2)
  assert.equal(server.orders.filter(({ host }) => host === 'site.test').length, 1)
  machine.follow({ hosts: ['site.test', 'new.test'] })
  await until(() => server.orders.filter(({ host }) => host === 'site.test').length === 2)
  await machine.settled()
})

test('another directory gets new orders at once, and what was there is served until then', async t => {
  const [staging, server, store] = [await AcmeServer.start(t), await AcmeServer.start(t), await memory(t)]
  const machine = await Machine.start(t, { server: staging, store })
  await machine.settled()
  server.ports = machine.ports
  server.beforeIssue = async () => {
    assert.equal((await machine.shown(staging.ca)).subjectAltName, 'DNS:site.test')
  }
  machine.follow({ directory: server.directory })
  await until(() => machine.standing().directory === server.directory)
  assert.equal((await machine.shown(server.ca)).subjectAltName, 'DNS:site.test')
  assert.deepEqual(server.faults, [])
})

test('an external account is bound by its key, and one without is told what is missing', async t => {
  const external = { 'kid-1': Buffer.from('a mac key of the authority').toString('base64url') }
  const [server, store] = [await AcmeServer.start(t, { external }), await memory(t)]
  const machine = await Machine.start(t, { server, store })
  const { lastError } = await machine.settled('failing')
  assert.equal(lastError!.message, 'externalAccountRequired: an external account is required')
  machine.follow({ binding: { id: 'kid-1', key: external['kid-1'] } })
  machine.clock.advance(3 * minute)
  await machine.settled()
  assert.deepEqual(
    [...server.accounts.values()].map(({ boundTo }) => boundTo),
    ['kid-1'],
  )
})

test('terms of service that were not agreed to are named, and nothing is registered', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const machine = await Machine.start(t, { server, store, config: { termsAgreed: false } })
  const { lastError } = await machine.settled('failing')
  assert.match(
    lastError!.message,
    /^the authority asks for agreement to its terms of service \(http:\/\/.*\/terms\): set tls\.auto\.terms_agreed$/,
  )
  assert.equal(server.accounts.size, 0)
})

test('a policy of the authority is passed on in its words', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const machine = await Machine.start(t, { server, store, hosts: ['a.refused.test'] })
  const { lastError } = await machine.settled('failing', 'a.refused.test')
  assert.equal(lastError!.message, 'rejectedIdentifier: policy forbids issuing for "a.refused.test"')
})

test('a gateway with another server key orders nothing over the others, and says why', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const machine = await Machine.start(t, { server, store })
  await machine.settled()
  const stranger = await Machine.start(t, { server, store, secrets: new SecretKeys(Buffer.alloc(32, 8)) })
  server.days = 900
  machine.clock.advance(70 * day)
  stranger.clock.advance(70 * day)
  assert.equal(stranger.standing().state, 'unreadable')
  stranger.orders.check()
  await stranger.orders.idle()
  await stranger.logged(
    'automatic certificate unreadable: its key was sealed with an unknown key; add that to secrets.old_keys',
  )
  server.ports = machine.ports
  await until(() => server.orders.length === 2)
  await machine.settled()
  assert.equal(server.accounts.size, 1)
})

test('a stale nonce costs another request, and no order', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  server.refusals.push({ path: '/order', problem: { status: 400, type: 'badNonce', detail: 'stale' } })
  const machine = await Machine.start(t, { server, store })
  await machine.settled()
  assert.deepEqual(machine.results, ['issued'])
})

test('an account that the authority has forgotten is registered again', async t => {
  const [server, store] = [await AcmeServer.start(t), await memory(t)]
  const machine = await Machine.start(t, { server, store })
  await machine.settled()
  server.accounts.clear()
  machine.follow({ hosts: ['site.test', 'new.test'] })
  const { lastError } = await machine.settled('failing', 'new.test')
  assert.match(lastError!.message, /^accountDoesNotExist: /)
  machine.clock.advance(3 * minute)
  await machine.settled('valid', 'new.test')
  assert.equal(server.accounts.size, 1)
})
