import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { EdgeMetrics } from '../../../src/metrics/counters/edge-metrics.ts'
import { AddressBook } from '../../../src/edge/resolver/address-book.ts'
import { NameLookup } from '../../../src/edge/resolver/name-lookup.ts'
import { ManualClock } from '../../help/clock.ts'
import { type DnsServer, startDns } from '../../help/dns.ts'

const name = 'origin.test'
const A = 1

interface Started {
  readonly dns: DnsServer
  readonly book: AddressBook
  readonly clock: ManualClock
  readonly metrics: EdgeMetrics
  /** Every change, as the addresses were after it. */
  readonly changes: (readonly string[])[]
  /** Asks, and tells null or the code of the failure. */
  ask(): Promise<string | null>
  /** Waits until so many look-ups were answered. */
  answered(times: number): Promise<void>
}

async function start(t: TestContext, settings = { refresh: 0, keep: 60_000 }): Promise<Started> {
  const dns = await startDns(t)
  const lookup = new NameLookup({ servers: [dns.address] })
  t.after(() => lookup.close())
  const [clock, metrics, news] = [new ManualClock(), new EdgeMetrics(), new EventEmitter()]
  const { found, failed } = metrics.originLookups
  for (const tally of [found, failed]) {
    const inc = tally.inc
    tally.inc = () => {
      inc.call(tally)
      setImmediate(() => news.emit('answer'))
    }
  }
  const changes: (readonly string[])[] = []
  const changed = () => void changes.push(book.addresses)
  const crashed = (bug: unknown) => assert.fail(String(bug))
  const book: AddressBook = new AddressBook({ name, dns: settings, lookup, clock, metrics, changed, crashed })
  const ask = () =>
    new Promise<string | null>(resolve =>
      book.lookUp({ resolved: () => resolve(null), unresolved: ({ cause }) => resolve(cause.code ?? '') }),
    )
  const answered = async (times: number) => {
    while (found.value + failed.value < times) await once(news, 'answer')
    // The TTL comes a moment after the answer.
    await new Promise(setImmediate)
  }
  return { dns, book, clock, metrics, changes, ask, answered }
}

test('nothing is known before the first lookup, and then the addresses take turns', async t => {
  const { dns, book, ask } = await start(t)
  dns.addresses(name, ['192.0.2.1', '192.0.2.2', '2001:db8::3'])
  assert.deepEqual(book.inTurn(), [])
  assert.equal(await ask(), null)
  const firsts = Array.from({ length: 6 }, () => book.inTurn()[0])
  assert.deepEqual(firsts, ['192.0.2.1', '192.0.2.2', '2001:db8::3', '192.0.2.1', '192.0.2.2', '2001:db8::3'])
  assert.deepEqual(book.inTurn().toSorted(), ['192.0.2.1', '192.0.2.2', '2001:db8::3'])
  assert.equal(dns.count(name, A), 1)
})

test('an address that could not be reached comes last until the name is looked up again', async t => {
  const { dns, book, clock, ask, answered } = await start(t)
  dns.addresses(name, ['192.0.2.1', '192.0.2.2'])
  await ask()
  const firsts = () => [book.inTurn()[0], book.inTurn()[0]].toSorted()
  book.noteFailure('192.0.2.1')
  assert.deepEqual(firsts(), ['192.0.2.2', '192.0.2.2'])
  assert.deepEqual(book.inTurn(), ['192.0.2.2', '192.0.2.1'])
  clock.advance(30_000)
  book.refresh()
  await answered(2)
  assert.deepEqual(firsts(), ['192.0.2.1', '192.0.2.2'])
})

for (const { ttl, refresh, after } of [
  { ttl: 5, refresh: 0, after: 5_000 },
  { ttl: 0, refresh: 0, after: 1_000 },
  { ttl: 3600, refresh: 0, after: 30_000 },
  { ttl: 1, refresh: 45_000, after: 45_000 },
  { ttl: 3600, refresh: 2_000, after: 2_000 },
]) {
  const setting = refresh === 0 ? 'without a setting' : `with refresh of ${refresh} ms`
  test(`a TTL of ${ttl} s ${setting} means a look-up after ${after} ms, and nobody waits for it`, async t => {
    const { dns, book, clock, ask, answered } = await start(t, { refresh, keep: 60_000 })
    dns.addresses(name, ['192.0.2.1'], ttl)
    await ask()
    await answered(1)
    dns.addresses(name, ['192.0.2.2'])
    clock.advance(after - 1)
    book.refresh()
    assert.equal(dns.count(name, A), 1)
    clock.advance(1)
    assert.deepEqual(book.inTurn(), ['192.0.2.1'])
    await answered(2)
    assert.deepEqual(book.inTurn(), ['192.0.2.2'])
  })
}

test('one lookup serves all callers that wait, except those that gave up', async t => {
  const { dns, book, ask } = await start(t)
  dns.addresses(name, ['192.0.2.1'])
  const release = dns.hold(name)
  const asked = Promise.all([ask(), ask(), ask()])
  const told: string[] = []
  const gone = { resolved: () => void told.push('resolved'), unresolved: () => void told.push('unresolved') }
  book.lookUp(gone)
  book.cancel(gone)
  await dns.asked(name, 1, A)
  release()
  assert.deepEqual(await asked, [null, null, null])
  assert.deepEqual(told, [])
  assert.equal(dns.count(name, A), 1)
})

test('a name that never resolved fails each time', async t => {
  const { dns, metrics, ask } = await start(t)
  dns.fail(name, 'no_such_name')
  assert.equal(await ask(), 'ENOTFOUND')
  assert.equal(await ask(), 'ENOTFOUND')
  assert.equal(metrics.originLookups.failed.value, 2)
})

test('a name that no longer resolves keeps its addresses for the configured time', async t => {
  const { dns, book, clock, changes, ask, answered } = await start(t, { refresh: 1_000, keep: 12_000 })
  dns.addresses(name, ['192.0.2.1'])
  await ask()
  dns.fail(name, 'no_such_name')
  clock.advance(1_000)
  for (const lookups of [2, 3, 4]) {
    assert.deepEqual(book.inTurn(), ['192.0.2.1'])
    await answered(lookups)
    clock.advance(5_000)
  }
  assert.deepEqual(book.inTurn(), [])
  assert.deepEqual(changes, [['192.0.2.1'], []])
  assert.equal(await ask(), 'ENOTFOUND')
  dns.addresses(name, ['192.0.2.7'])
  assert.equal(await ask(), null)
  assert.deepEqual(book.inTurn(), ['192.0.2.7'])
})

for (const failure of ['server_failure', 'refused'] as const) {
  test(`a server that replies ${failure} removes no address, however long it does`, async t => {
    const { dns, book, clock, changes, metrics, ask, answered } = await start(t, {
      refresh: 1_000,
      keep: 12_000,
    })
    dns.addresses(name, ['192.0.2.1'])
    await ask()
    dns.fail(name, failure)
    for (let lookups = 2; lookups < 12; lookups++) {
      clock.advance(5_000)
      assert.deepEqual(book.inTurn(), ['192.0.2.1'])
      await answered(lookups)
    }
    assert.equal(metrics.originLookups.failed.value, 10)
    assert.equal(changes.length, 1)
    dns.fail(name, 'no_such_name')
    clock.advance(5_000)
    assert.deepEqual(book.inTurn(), ['192.0.2.1'])
    await answered(12)
    clock.advance(12_000)
    assert.deepEqual(book.inTurn(), [])
  })
}

test('addresses that were not looked up for long are looked up before use', async t => {
  const { dns, book, clock, ask } = await start(t)
  dns.addresses(name, ['192.0.2.1'], 5)
  await ask()
  dns.addresses(name, ['192.0.2.2'], 5)
  clock.advance(35_000)
  assert.deepEqual(book.inTurn(), [])
  assert.equal(await ask(), null)
  assert.deepEqual(book.inTurn(), ['192.0.2.2'])
})

for (const failure of ['no_such_name', 'server_failure'] as const) {
  test(`what was not looked up for long serves on when it fails with ${failure}, but for no longer than it is kept`, async t => {
    const { dns, book, clock, ask } = await start(t)
    dns.addresses(name, ['192.0.2.1'], 5)
    await ask()
    dns.fail(name, failure)
    clock.advance(35_000 + 59_999)
    assert.deepEqual([book.inTurn(), book.oldInTurn()], [[], ['192.0.2.1']])
    assert.equal(await ask(), null)
    assert.deepEqual(book.inTurn(), ['192.0.2.1'])
    clock.advance(35_000 + 60_000)
    assert.deepEqual([book.inTurn(), book.oldInTurn()], [[], []])
    assert.notEqual(await ask(), null)
    assert.deepEqual(book.addresses, [])
  })
}

test('a look-up that succeeds ends the time that old addresses have', async t => {
  const { dns, book, clock, ask, answered } = await start(t, { refresh: 1_000, keep: 8_000 })
  dns.addresses(name, ['192.0.2.1'])
  await ask()
  dns.fail(name, 'no_such_name')
  clock.advance(1_000)
  book.refresh()
  await answered(2)
  dns.addresses(name, ['192.0.2.1'])
  clock.advance(5_000)
  book.refresh()
  await answered(3)
  clock.advance(900)
  assert.deepEqual(book.inTurn(), ['192.0.2.1'])
  dns.fail(name, 'no_such_name')
  clock.advance(3_000)
  assert.deepEqual(book.inTurn(), ['192.0.2.1'])
})

test('a change is reported once, and the same addresses in another order are not a change', async t => {
  const { dns, book, clock, changes, ask, answered } = await start(t, { refresh: 1_000, keep: 0 })
  dns.addresses(name, ['192.0.2.1', '192.0.2.2'])
  await ask()
  dns.addresses(name, ['192.0.2.2', '192.0.2.1'])
  clock.advance(1_000)
  book.refresh()
  await answered(2)
  dns.addresses(name, ['192.0.2.2'])
  clock.advance(1_000)
  book.refresh()
  await answered(3)
  assert.deepEqual(changes, [['192.0.2.1', '192.0.2.2'], ['192.0.2.2']])
})
