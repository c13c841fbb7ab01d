import assert from 'node:assert/strict'
import { test } from 'node:test'
import { challengeText } from '../../src/domains/challenge.ts'
import { TxtLookup } from '../../src/domains/txt-lookup.ts'
import type { DnsAnswer, OAuthClient } from '../../src/store/records/oauth-client.ts'
import { openStore } from '../../src/store/open.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'
import { thorough } from '../help/thorough.ts'
import { backends, Proving } from './proving.ts'

const host = 'app.svc.test'
const uri = `https://${host}/`
const twoDays = 172_800_000
const lease = 4_000
/** The clock of Redis goes on while the test's stands still, by as long as the claim took to get there. */
const pastLease = 2 * lease

const isPast = (checks: number) => (verification: { readonly checks: number }) => verification.checks > checks
const text = ({ verification }: OAuthClient) => challengeText(verification!)

for (const [name, place] of Object.entries(backends)) {
  test(`${name}: a client is checked as soon as it is written, until its record is found`, async t => {
    const proving = await Proving.open(t, place)
    const { dns, clock } = proving
    const { lines, metrics } = proving.watch({ period: 3_600_000 })
    const born = await proving.client(host)
    const first = await proving.until(born, isPast(0))
    assert.equal(first.verification!.status, 'in_progress')
    assert.deepEqual(first.verification!.lastAnswer, {
      at: clock.now(),
      outcome: 'no_such_name',
      records: [],
    })
    assert.deepEqual([first.revision, first.updatedAt], [born.revision, born.updatedAt])

    dns.txt(host, 'v=spf1 -all', text(born))
    clock.advance(10_000)
    const { revision } = await proving.setUri(born, uri)
    const second = await proving.until(born, isPast(1))
    const { status, verifiedAt, nextCheckAt, code, deadline } = second.verification!
    assert.deepEqual([status, verifiedAt, nextCheckAt], ['verified', clock.now(), null])
    assert.deepEqual([code, deadline], [born.verification!.code, born.verification!.deadline])
    assert.deepEqual([second.revision, second.updatedAt], [revision + 1, clock.now()])
    assert.equal(dns.count(host), 2)
    assert.deepEqual([metrics.domainChecks.no_such_name.value, metrics.domainChecks.found.value], [1, 1])
    const told = { account: born.account, client: born.id, host, checks: 2 }
    await until(() => lines.length > 0)
    assert.partialDeepStrictEqual(lines, [{ ...told, msg: 'domain verified' }])
    assert.ok(!JSON.stringify(lines).includes(code))
  })

  // What is asked of a store, other tests ask of both.
  if (thorough(true, name === 'SQLite'))
    test(`${name}: in two days it is checked about 430 times, fails at the deadline, and starts again on request`, async t => {
      const proving = await Proving.open(t, place)
      const { dns, clock } = proving
      const { lines } = proving.watch({ period: 1 })
      dns.txt(host, 'v=spf1 -all')
      let client = await proving.client(host)
      const { verification: born, revision } = client
      while (client.verification!.nextCheckAt !== null) client = await proving.nextCheck(client)
      const { status, checks, lastAnswer, verifiedAt } = client.verification!
      assert.deepEqual([status, verifiedAt], ['failed', null])
      assert.deepEqual(lastAnswer, { at: born!.deadline, outcome: 'no_match', records: ['v=spf1 -all'] })
      assert.equal(clock.now(), born!.startedAt + twoDays)
      assert.ok(checks > 400 && checks < 460, String(checks))
      assert.equal(dns.count(host), checks)
      assert.equal(client.revision, revision + 1)
      await until(() => lines.length > 0)
      assert.partialDeepStrictEqual(lines, [{ host, msg: 'domain verification failed: not proven in time' }])

      clock.advance(twoDays)
      dns.txt(host, text(client))
      await proving.setUri(client, uri)
      client = await proving.until(client, ({ status }) => status === 'verified')
      assert.equal(client.verification!.checks, 1)
      assert.equal(dns.count(host), checks + 1)
    })

  test(`${name}: nothing is checked that is verified, failed or without a client_uri`, async t => {
    const proving = await Proving.open(t, place)
    const { dns, clock, store } = proving
    const over = { status: 'verified', nextCheckAt: null } as const
    const clients = [await proving.client('one.svc.test'), await proving.client('two.svc.test')]
    await proving.change(clients[0]!, ({ verification }) => ({ verification: { ...verification!, ...over } }))
    await proving.change(clients[1]!, () => ({ clientUri: null, verification: null }))
    clock.advance(3 * twoDays)
    proving.watch()
    const other = await proving.client(host)
    await proving.until(other, isPast(0))
    assert.deepEqual([...new Set(dns.queries.map(({ name }) => name))], [host])
    assert.deepEqual(await store.oauthClients.claimDue(10, 1), [])
  })

  test(`${name}: any other change meanwhile is kept, and causes no second check`, async t => {
    const proving = await Proving.open(t, place)
    const { dns } = proving
    const release = dns.hold(host)
    proving.watch()
    const client = await proving.client(host)
    await dns.asked(host)
    for (const name of ['One', 'Two', 'Three']) await proving.change(client, () => ({ name }))
    await proving.setUri(client, `${uri}path`)
    dns.txt(host, text(client))
    release()
    const kept = await proving.until(client, isPast(0))
    assert.deepEqual(
      [kept.name, kept.clientUri, kept.verification!.status],
      ['Three', `${uri}path`, 'verified'],
    )
    assert.equal(kept.revision, 6)
    assert.equal(dns.count(host), 1)
  })

  test(`${name}: the proof of one host is none of another that was set meanwhile`, async t => {
    const proving = await Proving.open(t, place)
    const { dns } = proving
    const release = dns.hold(host)
    const { metrics } = proving.watch()
    const client = await proving.client(host)
    await dns.asked(host)
    dns.txt(host, text(client))
    proving.clock.advance(1)
    const moved = await proving.setUri(client, 'https://other.svc.test/')
    await proving.until(client, isPast(0))
    release()
    await until(() => metrics.domainChecks.found.value === 1)
    dns.txt('other.svc.test', text(client))
    let kept = await proving.nextCheck(client)
    assert.deepEqual([kept.verification!.status, kept.verification!.checks], ['in_progress', 2])
    dns.txt('other.svc.test', text(moved))
    kept = await proving.nextCheck(client)
    assert.deepEqual([kept.verification!.status, kept.verification!.host], ['verified', 'other.svc.test'])
    assert.equal(dns.count(host), 1)
  })

  test(`${name}: a late result counts only if it verifies the host`, async t => {
    const proving = await Proving.open(t, place)
    const { dns, clock } = proving
    const { metrics } = proving.watch()
    const clients: OAuthClient[] = []
    for (const name of ['one.svc.test', 'two.svc.test']) {
      const release = dns.hold(name)
      const client = await proving.client(name)
      clients.push(client)
      await dns.asked(name)
      const later = clock.now() + 3_600_000
      await proving.change(client, ({ verification }) => ({
        verification: { ...verification!, nextCheckAt: later },
      }))
      if (name === 'two.svc.test') dns.txt(name, text(client))
      release()
    }
    const proven = await proving.until(clients[1]!, isPast(0))
    assert.equal(proven.verification!.status, 'verified')
    await until(() => metrics.domainChecks.no_such_name.value === 1)
    const { checks, lastAnswer, status } = (await proving.nextCheck(clients[0]!)).verification!
    assert.deepEqual([checks, lastAnswer!.at, status], [1, clock.now(), 'in_progress'])
  })

  test(`${name}: a record that is removed during a check stays removed`, async t => {
    const proving = await Proving.open(t, place)
    const { dns, store } = proving
    const release = dns.hold(host)
    const { watch, metrics, lines } = proving.watch()
    const client = await proving.client(host)
    await dns.asked(host)
    dns.txt(host, text(client))
    await store.oauthClients.remove(client.account, client.id)
    release()
    await until(() => metrics.domainChecks.found.value === 1)
    await watch.close()
    assert.equal(await store.oauthClients.get(client.account, client.id), null)
    assert.deepEqual(lines, [])
  })

  test(`${name}: at most 16 due hosts are checked at the same time, and all are checked in the end`, async t => {
    const proving = await Proving.open(t, place)
    const { dns } = proving
    const hosts = Array.from({ length: 50 }, (_, i) => `h${i}.svc.test`)
    const releases = new Map(hosts.map(host => [host, dns.hold(host)]))
    const clients = []
    for (const host of hosts) clients.push(await proving.client(host))
    for (const client of clients) dns.txt(client.verification!.host, text(client))
    proving.watch({ period: 3_600_000 })
    let answered = 0
    while (answered < hosts.length) {
      const open = Math.min(hosts.length, answered + 16)
      await until(() => dns.queries.length === open)
      assert.equal(dns.queries.length, open)
      releases.get(dns.queries[answered]!.name)!()
      answered++
    }
    for (const client of clients) await proving.until(client, ({ status }) => status === 'verified')
    assert.ok(hosts.every(host => dns.count(host) === 1))
  })

  test(`${name}: a check that a closed watch had begun is made by another after its lease`, async t => {
    const proving = await Proving.open(t, place)
    const { dns, clock } = proving
    dns.fail(host, 'silence')
    const first = proving.watch()
    const client = await proving.client(host)
    await dns.asked(host)
    await first.watch.close()
    assert.equal((await proving.read(client)).verification!.checks, 0)
    dns.txt(host, text(client))
    const { metrics } = proving.watch()
    const other = await proving.client('other.svc.test')
    await proving.until(other, isPast(0))
    clock.advance(lease - 1_000)
    await proving.until(await proving.client('third.svc.test'), isPast(0))
    assert.deepEqual([dns.count(host), metrics.domainChecks.found.value], [1, 0])
    clock.advance(pastLease)
    const kept = await proving.until(client, isPast(0))
    assert.equal(kept.verification!.status, 'verified')
    assert.deepEqual(first.lines, [])
  })

  test(`${name}: a slow check keeps its lease, and that of a process that is gone ends within 5 s`, async t => {
    const proving = await Proving.open(t, place)
    const { dns, clock } = proving
    const release = dns.hold(host)
    const first = proving.watch()
    const client = await proving.client(host)
    await dns.asked(host)
    const second = proving.watch()
    const { renewLeases } = proving.store.oauthClients
    let renewedAt = 0
    proving.store.oauthClients.renewLeases = async (...asked) => {
      const at = clock.now()
      await renewLeases.apply(proving.store.oauthClients, asked)
      renewedAt = at
    }
    for (let i = 0; i < 3; i++) {
      clock.advance(lease - 1_000)
      // One that began before the time went on is none.
      await until(() => renewedAt === clock.now())
    }
    assert.equal(dns.count(host), 1)
    // Asking again gives it to nobody else, as long as somebody is at it.
    await proving.setUri(client, uri)
    clock.advance(lease - 1_000)
    await proving.store.oauthClients.get(client.account, client.id)
    assert.equal(dns.count(host), 1)
    await first.watch.close()
    dns.txt(host, text(client))
    await proving.setUri(client, uri)
    clock.advance(pastLease)
    release()
    await proving.until(client, ({ status }) => status === 'verified')
    assert.equal(second.metrics.domainChecks.found.value, 1)
  })

  test(`${name}: a bug in one check is logged, and stops no other`, async t => {
    const proving = await Proving.open(t, place)
    class Failing extends TxtLookup {
      override ask(name: string, text: string, now: number): Promise<DnsAnswer> {
        if (name === host) throw new TypeError('a bug')
        return super.ask(name, text, now)
      }
    }
    const lookup = new Failing({ resolvers: [proving.dns.address], timeout: 20_000 })
    const { lines } = proving.watch({ lookup })
    const bad = await proving.client(host)
    const good = await proving.client('other.svc.test')
    await proving.until(good, isPast(0))
    await until(() => lines.length > 0)
    assert.equal(lines.length, 1)
    assert.partialDeepStrictEqual(lines, [{ client: bad.id, msg: 'domain check failed: internal error' }])
    await proving.nextCheck(good)
  })
}

test('an unreachable store is logged once, and its clients are checked when it is back', async t => {
  const server = await startRedis(t, { aof: 'always' })
  const proving = await Proving.open(t, async () => server.url)
  const { dns } = proving
  const store = await openStore(server.url, { commandTimeout: 2_000, clock: proving.clock })
  t.after(() => store.close())
  const client = await proving.client(host)
  const release = dns.hold(host)
  const { lines, metrics } = proving.watch({ store })
  await dns.asked(host)
  await server.kill()
  dns.txt(host, text(client))
  release()
  await until(() => metrics.domainChecks.found.value === 1)
  await until(() => lines.length === 1)
  await until(() => store.isUnreachable)
  await server.start()
  await until(() => lines.length === 2)
  // Each connection comes back by itself: that of the claims, that of the changes, and those of the store of the test.
  await until(() => !store.isUnreachable && !proving.store.isUnreachable)
  proving.clock.advance(pastLease)
  const kept = await proving.until(client, ({ status }) => status === 'verified')
  assert.equal(kept.verification!.checks, 1)
  assert.equal(dns.count(host), 2)
  await until(() => lines.length === 3)
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['domain checks paused: store unreachable', 'domain checks resumed', 'domain verified'],
  )
})
