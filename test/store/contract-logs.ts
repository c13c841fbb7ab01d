// The promises of a store about keeping log entries, and about how many.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { batchOf } from '../../src/store/log-batch/batch.ts'
import type { Gateway, LogEntry, LogStrategy, LogSummary } from '../../src/store/records/records.ts'
import { CallSum } from '../../src/store/log-sums/call-sum.ts'
import { Cells } from '../../src/store/log-sums/cells.ts'
import type { LogEdit, LogFilter, LogScanQuery, LogSumQuery, Store } from '../../src/store/contract/store.ts'
import type { Place } from './contract.ts'
import { gateway, hex, logEntries, logQuery } from './contract-specimens.ts'

const rareMembers: Partial<LogEntry> = {
  usageIsEstimated: true,
  dropped: ['thinking'],
  attempts: [
    { provider: 'openai', model: null, outcome: 'http_503', duration: 12 },
    { provider: 'groq', model: 'llama', outcome: 'ok', duration: 340 },
  ],
  step: 1,
  eventId: 'order-1',
  hasCustomCost: true,
  feedback: -1,
  score: 0,
}

export function logsContract(name: string, place: Place): void {
  test(`${name}: an entry is kept as it was given, and listed without its bodies`, async t => {
    const { logs, kept, append } = await start(place, t)
    const [full, bare] = logEntries(kept, 2, i =>
      i === 0 ? rareMembers : { ...bareMembers, createdAt: Date.UTC(2026, 0, 2) + 0.5 },
    )
    assert.equal(await append([full!, bare!]), 2)
    for (const entry of [full!, bare!]) {
      assert.deepEqual(await logs.get(kept.account, kept.id, entry.id), entry)
    }
    assert.deepEqual(await logs.list(kept.account, kept.id, logQuery()), {
      items: [summary(full!), summary(bare!)],
      total: 2,
    })
  })

  test(`${name}: an entry with only one of its bodies is kept so`, async t => {
    const { logs, kept, append } = await start(place, t)
    const text = 'é\u{1f600}\n'.repeat(20_000)
    const entries = logEntries(kept, 2, i =>
      i === 0
        ? { request: { text, isCut: true }, response: null }
        : {
            request: null,
            response: { text: '', isCut: false },
            providerResponse: { text: 'AP8=', isCut: true, isBase64: true },
          },
    )
    await append(entries)
    for (const entry of entries) assert.deepEqual(await logs.get(kept.account, kept.id, entry.id), entry)
  })

  test(`${name}: what is said about an entry changes, and the rest of it stays`, async t => {
    const { logs, kept, append } = await start(place, t)
    const [entry, other] = logEntries(kept, 2)
    await append([entry!, other!])
    const edit = (change: LogEdit, id = entry!.id) => logs.edit(kept.account, kept.id, id, change)
    const scored = { ...entry!, feedback: 1 as const, score: 87.5 }
    assert.deepEqual(await edit({ feedback: 1, score: 87.5 }), summary(scored))
    assert.deepEqual(await logs.get(kept.account, kept.id, entry!.id), scored)
    const { score: _, ...neutral } = { ...scored, feedback: 0 as const, metadata: { suite: 'nightly' } }
    await edit({ feedback: 0, score: null, metadata: { suite: 'nightly' } })
    assert.deepEqual(await logs.get(kept.account, kept.id, entry!.id), neutral)
    const filters = [{ field: 'metadata', operator: 'contains', values: ['nightly'] }] as const
    assert.equal((await logs.list(kept.account, kept.id, logQuery({ filters }))).total, 1)
    await Promise.all([edit({ feedback: null }), edit({ metadata: null }), edit({ score: 5 })])
    const { feedback: __, ...last } = { ...neutral, metadata: null, score: 5 }
    assert.deepEqual(await logs.get(kept.account, kept.id, entry!.id), last)
    assert.deepEqual(await logs.get(kept.account, kept.id, other!.id), other)
    assert.equal(await edit({ feedback: 1 }, hex(8)), null)
    assert.equal(await logs.edit(kept.account, 'nobody', entry!.id, { feedback: 1 }), null)
  })

  test(`${name}: an entry is found in its gateway only`, async t => {
    const { store, logs, kept, append } = await start(place, t)
    const [entry] = logEntries(kept, 1)
    await append([entry!])
    const neighbour = gateway({ account: kept.account, id: 'neighbour' })
    await store.gateways.insert(neighbour)
    assert.equal(await logs.get(kept.account, neighbour.id, entry!.id), null)
    assert.equal(await logs.get(hex(16), kept.id, entry!.id), null)
    assert.equal(await logs.get(kept.account, kept.id, hex(8)), null)
    assert.equal(await logs.count(kept.account, neighbour.id), 0)
    assert.equal((await logs.list(kept.account, neighbour.id, logQuery())).total, 0)
  })

  test(`${name}: nothing is kept for a gateway that there is not`, async t => {
    const { logs } = await (await place(t))()
    const nobody = gateway()
    assert.equal(await logs.append(nobody.account, nobody.id, batchOf(logEntries(nobody, 3)), limit(10)), 0)
    assert.equal(await logs.count(nobody.account, nobody.id), 0)
    assert.deepEqual(await logs.list(nobody.account, nobody.id, logQuery()), { items: [], total: 0 })
    assert.equal(await logs.remove(nobody.account, nobody.id, logQuery()), 0)
  })

  test(`${name}: entries are listed a page at a time, in both directions`, async t => {
    const { logs, kept, append } = await start(place, t)
    const entries = logEntries(kept, 25)
    await append(entries.slice(0, 10))
    await append(entries.slice(10))
    const page = (more: object) => ids(logs, kept, logQuery({ limit: 10, ...more }))
    assert.deepEqual(await page({}), [25, ...idsOf(entries.slice(0, 10))])
    assert.deepEqual(await page({ offset: 20 }), [25, ...idsOf(entries.slice(20))])
    assert.deepEqual(await page({ offset: 30 }), [25])
    assert.deepEqual(await page({ limit: 0 }), [25])
    const newest = entries.toReversed()
    assert.deepEqual(await page({ descending: true }), [25, ...idsOf(newest.slice(0, 10))])
    assert.deepEqual(await page({ descending: true, offset: 10 }), [25, ...idsOf(newest.slice(10, 20))])
  })

  test(`${name}: entries that come late are listed by their time`, async t => {
    const { logs, kept, append } = await start(place, t)
    const [first, second, third] = logEntries(kept, 3)
    await append([third!, first!])
    await append([second!])
    assert.deepEqual(await ids(logs, kept, logQuery()), [3, ...idsOf([first!, second!, third!])])
  })

  test(`${name}: a gateway that stops at its limit keeps the first entries`, async t => {
    const { logs, kept, append } = await start(place, t)
    const entries = logEntries(kept, 12)
    assert.equal(await append(entries.slice(0, 4), 6, 'STOP_INSERTING'), 4)
    assert.equal(await append(entries.slice(4, 8), 6, 'STOP_INSERTING'), 2)
    assert.equal(await append(entries.slice(8), 6, 'STOP_INSERTING'), 0)
    assert.deepEqual(await ids(logs, kept, logQuery()), [6, ...idsOf(entries.slice(0, 6))])
    assert.equal(await logs.count(kept.account, kept.id), 6)
    assert.equal(await append(entries.slice(8), 3, 'STOP_INSERTING'), 0)
    assert.equal(await logs.count(kept.account, kept.id), 6, 'a lower limit removes nothing by itself')
  })

  test(`${name}: a gateway that is to keep nothing deletes what it has with the next call, or stops at it`, async t => {
    const { logs, kept, append } = await start(place, t)
    const entries = logEntries(kept, 5)
    await append(entries.slice(0, 3))
    assert.equal(await append(entries.slice(3, 4), 0, 'STOP_INSERTING'), 0)
    assert.equal(await logs.count(kept.account, kept.id), 3)
    assert.equal(await append(entries.slice(4), 0), 0)
    assert.deepEqual(await ids(logs, kept, logQuery()), [0])
  })

  for (const strategy of ['DELETE_OLDEST', 'STOP_INSERTING'] as const) {
    test(`${name}: what comes late is judged by its time, with ${strategy}`, async t => {
      const { logs, kept, append, repeat } = await start(place, t)
      const entries = logEntries(kept, 12)
      const odd = entries.filter((_, i) => i % 2 === 1)
      const even = entries.filter((_, i) => i % 2 === 0)
      assert.equal(await append(odd, 6, strategy), 6)
      assert.equal(await append(even, 6, strategy), 3)
      const expected = strategy === 'DELETE_OLDEST' ? entries.slice(6) : entries.slice(0, 6)
      assert.deepEqual(await ids(logs, kept, logQuery()), [6, ...idsOf(expected)])
      for (const entry of entries) {
        const isKept = expected.includes(entry)
        assert.deepEqual(await logs.get(kept.account, kept.id, entry.id), isKept ? entry : null)
      }
      assert.equal(await repeat(even, 6, strategy), 3)
      assert.deepEqual(await ids(logs, kept, logQuery()), [6, ...idsOf(expected)])
    })

    test(`${name}: in whatever order entries come, the same ones are kept, with ${strategy}`, async t => {
      const { store, logs } = await start(place, t)
      const times = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 40 })
      const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 })
      const rounds = fc.record({ times, cuts, most: fc.integer({ min: 0, max: 24 }), again: fc.nat() })
      await fc.assert(
        fc.asyncProperty(rounds, async ({ times, cuts, most, again }) => {
          const kept = gateway()
          await store.gateways.insert(kept)
          const entries = logEntries(kept, times.length, i => ({ createdAt: times[i]! }))
          const batches = batchesOf(entries, cuts)
          for (const batch of batches)
            await logs.append(kept.account, kept.id, batchOf(batch), limit(most, strategy))
          const repeated = batchOf(batches[again % batches.length]!, true)
          await logs.append(kept.account, kept.id, repeated, limit(most, strategy))
          const inTime = entries.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
          const start = strategy === 'DELETE_OLDEST' ? Math.max(0, inTime.length - most) : 0
          const expected = inTime.slice(start, start + most)
          assert.deepEqual(await ids(logs, kept, logQuery()), [expected.length, ...idsOf(expected)])
          assert.equal(await logs.count(kept.account, kept.id), expected.length)
          const all = (await Array.fromAsync(logs.entries(kept.account, kept.id))).flat()
          assert.deepEqual(
            all.toSorted((a, b) => inTime.indexOf(find(a)) - inTime.indexOf(find(b))),
            expected,
          )
          function find({ id }: LogEntry) {
            return inTime.find(entry => entry.id === id)!
          }
        }),
        { numRuns: 60 },
      )
    })
  }

  test(`${name}: whatever is done in turn, a list of all that are kept says the same`, async t => {
    const { store, logs } = await start(place, t)
    const append = fc.record({
      does: fc.constant('append' as const),
      times: fc.array(fc.nat(3), { minLength: 1, maxLength: 6 }),
      most: fc.constantFrom(4, 4, 4, 0, 9),
      strategy: fc.constantFrom('DELETE_OLDEST' as const, 'STOP_INSERTING' as const),
      isRepeated: fc.boolean(),
    })
    const remove = fc.record({
      does: fc.constant('remove' as const),
      at: fc.nat(3),
      limit: fc.nat(3),
      descending: fc.boolean(),
    })
    const anew = fc.record({ does: fc.constant('anew' as const) })
    const anyAct = fc.oneof({ arbitrary: append, weight: 6 }, { arbitrary: remove, weight: 2 }, anew)
    await fc.assert(
      fc.asyncProperty(fc.array(anyAct, { maxLength: 20 }), async acts => {
        const home = gateway()
        const [account, id] = [home.account, home.id]
        await store.gateways.insert(home)
        /** What is kept, as it came. */
        let list: LogEntry[] = []
        let last = logEntries(home, 1)
        let asked = limit(10)
        for (const act of acts) {
          if (act.does === 'anew') {
            await store.gateways.remove(account, id)
            await store.gateways.insert(home)
            list = []
          } else if (act.does === 'remove') {
            const { at, limit, descending } = act
            const filters = [{ field: 'created_at', operator: 'gt', values: [at] }] as const
            const found = inTime(list, descending)
              .filter(({ createdAt }) => createdAt >= at)
              .slice(0, limit)
            const query = logQuery({ filters, limit, descending })
            assert.equal(await logs.remove(account, id, query), found.length)
            list = list.filter(entry => !found.includes(entry))
          } else {
            const { times, isRepeated } = act
            if (!isRepeated) {
              last = logEntries(home, times.length, i => ({ createdAt: times[i]! }))
              asked = limit(act.most, act.strategy)
            }
            list = keptOf(list, last, asked)
            const kept = await logs.append(account, id, batchOf(last, isRepeated), asked)
            assert.equal(kept, last.filter(entry => list.includes(entry)).length)
          }
          assert.equal(await logs.count(account, id), list.length)
        }
        assert.deepEqual((await Array.fromAsync(logs.entries(account, id))).flat(), list)
        for (const descending of [false, true]) {
          const wanted = idsOf(inTime(list, descending))
          assert.deepEqual(await ids(logs, home, logQuery({ descending })), [list.length, ...wanted])
          assert.deepEqual(await scanned(logs, home, { descending, maxScanned: 3, limit: 2 }), wanted)
        }
        const { items } = await logs.tail(account, id, null, 5)
        assert.deepEqual(
          items.map(({ id }) => id),
          idsOf(list.slice(-5)),
        )
      }),
      { numRuns: 150 },
    )
  })

  test(`${name}: a gateway whose limit was lowered below what it has takes nothing, whatever its time`, async t => {
    const { logs, kept, append } = await start(place, t)
    const entries = logEntries(kept, 8)
    await append(entries.slice(2), 6, 'STOP_INSERTING')
    assert.equal(await append(entries.slice(0, 2), 4, 'STOP_INSERTING'), 0)
    assert.deepEqual(await ids(logs, kept, logQuery()), [6, ...idsOf(entries.slice(2))])
  })

  test(`${name}: a gateway that deletes the oldest keeps the last entries`, async t => {
    const { logs, kept, append } = await start(place, t)
    const entries = logEntries(kept, 20)
    assert.equal(await append(entries.slice(0, 4), 6), 4)
    assert.equal(await append(entries.slice(4, 8), 6), 4)
    assert.deepEqual(await ids(logs, kept, logQuery()), [6, ...idsOf(entries.slice(2, 8))])
    assert.equal(await logs.get(kept.account, kept.id, entries[1]!.id), null)
    assert.equal(await append(entries.slice(8), 6), 6, 'a batch above the limit keeps its last ones')
    assert.deepEqual(await ids(logs, kept, logQuery()), [6, ...idsOf(entries.slice(14))])
    assert.equal(await append(logEntries(kept, 1), 2), 0, 'it is older than all of them')
    assert.equal(await logs.count(kept.account, kept.id), 2)
  })

  test(`${name}: the limit of one gateway is none of another's`, async t => {
    const { store, logs, kept, append } = await start(place, t)
    const other = gateway({ account: kept.account, id: 'other' })
    await store.gateways.insert(other)
    await append(logEntries(kept, 5), 5)
    await logs.append(other.account, other.id, batchOf(logEntries(other, 9)), limit(4))
    assert.equal(await logs.count(kept.account, kept.id), 5)
    assert.equal(await logs.count(other.account, other.id), 4)
  })

  test(`${name}: parallel writers keep the limit, and lose nothing below it`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    const kept = gateway()
    await stores[0]!.gateways.insert(kept)
    const appendTwenty = async (most: number) => {
      const writes = stores.flatMap(({ logs }) =>
        [1, 2].map(() => logs.append(kept.account, kept.id, batchOf(logEntries(kept, 5)), limit(most))),
      )
      return Promise.all(writes)
    }
    assert.deepEqual(await appendTwenty(100), [5, 5, 5, 5])
    assert.equal((await stores[0]!.logs.list(kept.account, kept.id, logQuery())).items.length, 20)
    await appendTwenty(30)
    assert.equal((await stores[1]!.logs.list(kept.account, kept.id, logQuery())).items.length, 30)
    assert.equal(await stores[1]!.logs.count(kept.account, kept.id), 30)
  })

  test(`${name}: a batch that is appended again, since nobody knew that it was kept, is there once`, async t => {
    const { logs, kept, repeat } = await start(place, t)
    const entries = logEntries(kept, 8)
    assert.equal(await repeat(entries.slice(0, 5)), 5, 'it may as well have been lost')
    assert.equal(await repeat(entries.slice(0, 5)), 5)
    assert.equal(await repeat(entries.slice(2)), 6, 'what was kept, and what was not')
    assert.deepEqual(await ids(logs, kept, logQuery()), [8, ...idsOf(entries)])
    assert.equal(await logs.count(kept.account, kept.id), 8)
  })

  for (const strategy of ['DELETE_OLDEST', 'STOP_INSERTING'] as const) {
    test(`${name}: a batch that is appended again at the limit changes nothing, with ${strategy}`, async t => {
      const { logs, kept, append, repeat } = await start(place, t)
      const entries = logEntries(kept, 12)
      await append(entries.slice(0, 3), 6, strategy)
      const keeps = await append(entries.slice(3), 6, strategy)
      const before = await ids(logs, kept, logQuery())
      assert.equal(await repeat(entries.slice(3), 6, strategy), keeps)
      assert.equal(await repeat(entries.slice(3), 6, strategy), keeps)
      assert.deepEqual(await ids(logs, kept, logQuery()), before)
      assert.equal(await logs.count(kept.account, kept.id), 6)
    })
  }

  test(`${name}: what filters match is removed, at most the page, in its order`, async t => {
    const { logs, kept, append } = await start(place, t)
    const entries = logEntries(kept, 10, i => ({ status: i % 2 ? 500 : 200 }))
    await append(entries)
    const failed = logQuery({ filters: [{ field: 'status', operator: 'eq', values: [500] }] })
    assert.equal(await logs.remove(kept.account, kept.id, { ...failed, limit: 2, descending: true }), 2)
    const left = entries.filter((_, i) => i !== 9 && i !== 7)
    assert.deepEqual(await ids(logs, kept, logQuery()), [8, ...idsOf(left)])
    assert.equal(await logs.remove(kept.account, kept.id, failed), 3)
    assert.equal(await logs.count(kept.account, kept.id), 5)
    assert.equal(await logs.get(kept.account, kept.id, entries[1]!.id), null)
    assert.equal(await logs.remove(kept.account, kept.id, failed), 0)
    assert.equal(await logs.remove(kept.account, kept.id, logQuery()), 5)
    assert.equal(await logs.count(kept.account, kept.id), 0)
    assert.equal(await append(logEntries(kept, 3), 3, 'STOP_INSERTING'), 3, 'what was removed makes room')
  })

  test(`${name}: a gateway that is removed takes its entries with it`, async t => {
    const { store, logs, kept, append } = await start(place, t)
    const [entry, ...others] = logEntries(kept, 300)
    await append([entry!, ...others])
    await store.gateways.remove(kept.account, kept.id)
    assert.equal(await logs.get(kept.account, kept.id, entry!.id), null)
    assert.equal(await append([entry!]), 0)
    await store.gateways.insert(kept)
    assert.equal(await logs.count(kept.account, kept.id), 0)
    assert.deepEqual(await logs.list(kept.account, kept.id, logQuery()), { items: [], total: 0 })
    assert.equal(await logs.get(kept.account, kept.id, entry!.id), null)
    assert.equal(await append([entry!]), 1)
    assert.equal(await logs.count(kept.account, kept.id), 1)
  })

  test(`${name}: entries of a gateway that is gone are not kept by another one of its name`, async t => {
    const { store, logs, kept } = await start(place, t)
    const appendOf = ({ createdAt }: Gateway) =>
      logs.append(kept.account, kept.id, batchOf(logEntries(kept, 2)), { ...limit(10), madeAt: createdAt })
    const found = (await store.gateways.get(kept.account, kept.id))!
    await store.gateways.replace({ ...found.record, logManagement: 7, modifiedAt: 9 }, found.version)
    assert.equal(await appendOf(kept), 2)
    await store.gateways.remove(kept.account, kept.id)
    assert.equal(await appendOf(kept), 0)
    const another = { ...kept, createdAt: kept.createdAt + 1 }
    await store.gateways.insert(another)
    assert.equal(await appendOf(kept), 0)
    assert.equal(await appendOf(another), 2)
    assert.equal(await logs.count(kept.account, kept.id), 2)
  })

  test(`${name}: all entries are given in the order in which they were appended`, async t => {
    const { logs, kept, append } = await start(place, t)
    const entries = logEntries(kept, 700, i => (i % 3 ? {} : bareMembers)).toReversed()
    await append(entries.slice(0, 300))
    await append(entries.slice(300))
    assert.deepEqual((await Array.fromAsync(logs.entries(kept.account, kept.id))).flat(), entries)
    assert.deepEqual(await Array.fromAsync(logs.entries(kept.account, 'nobody')), [])
  })

  test(`${name}: a list is read a bounded number of entries at a time, from any place`, async t => {
    const { logs, kept, append } = await start(place, t)
    const born = Date.UTC(2026, 0, 2)
    const entries = logEntries(kept, 600, i => ({
      createdAt: born + ((i * 7919) % 400) + (i % 2) / 2,
      status: i % 7 === 0 ? 500 : 200,
    }))
    for (let at = 0; at < entries.length; at += 150) await append(entries.slice(at, at + 150))
    const anyScan = fc.record({
      descending: fc.boolean(),
      since: fc.integer({ min: -10, max: 410 }),
      last: fc.integer({ min: -10, max: 410 }),
      limit: fc.constantFrom(1, 20, 1_000),
      maxScanned: fc.constantFrom(50, 100, 600, 601),
    })
    await fc.assert(
      fc.asyncProperty(anyScan, async ({ descending, since, last, limit, maxScanned }) => {
        const filters: LogFilter[] = [
          { field: 'created_at', operator: 'gt', values: [born + since] },
          { field: 'created_at', operator: 'lt', values: [born + last] },
          { field: 'status', operator: 'eq', values: [500] },
        ]
        const wanted = inTime(entries, descending).filter(
          ({ createdAt: at, status }) => at >= born + since && at <= born + last && status === 500,
        )
        assert.deepEqual(await scanned(logs, kept, { filters, descending, limit, maxScanned }), idsOf(wanted))
      }),
      { numRuns: 40 },
    )
    const {
      items,
      scanned: count,
      next,
    } = await logs.scan(kept.account, kept.id, {
      ...{ filters: [], descending: true, limit: 600, maxScanned: 250 },
    })
    const newest = inTime(entries, true)
    assert.deepEqual(items, newest.slice(0, 250).map(summary))
    assert.deepEqual([count, next?.id], [250, newest[249]!.id])
    const none = { filters: [], descending: true, limit: 5, maxScanned: 5 }
    assert.deepEqual(await logs.scan(kept.account, 'nobody', none), { items: [], scanned: 0, next: null })
  })

  test(`${name}: entries are summed by window and by what they have in common`, async t => {
    const { logs, kept, append } = await start(place, t)
    const born = Date.UTC(2026, 0, 2)
    const app = { user: 'u', email: 'u@example.com', client: 'c1', clientName: 'An app' }
    const entries = logEntries(kept, 900, i => ({
      createdAt: born + i * 1_000,
      model: i % 3 === 0 ? null : `model-${i % 3}`,
      ...(i % 5 === 0 && { app, tokenName: app.clientName }),
      success: i % 4 > 0,
      cost: i % 7 === 0 ? null : 0.25,
      tokensIn: i % 10,
    }))
    await append(entries.toReversed())
    const time = { since: born + 100_000, before: born + 700_000 }
    const sum = (query: Partial<LogSumQuery>) =>
      logs.sum(kept.account, kept.id, { time, filters: [], by: [], width: null, maxGroups: 100, ...query })
    const all = (await sum({})).windows
    const some = entries.slice(100, 700)
    assert.deepEqual([...all.keys()], [0])
    assert.deepEqual(totalOf(all.get(0)!), sumOf(some))
    const minutes = await sum({
      width: 60_000,
      filters: [{ field: 'success', operator: 'eq', values: [true] }],
    })
    assert.equal(minutes.windows.size, 11)
    for (const [since, cells] of minutes.windows) {
      const within = some.filter(
        ({ createdAt: at, success }) => at >= since && at < since + 60_000 && success,
      )
      assert.deepEqual(totalOf(cells), sumOf(within))
    }
    const { windows } = await sum({ by: ['model', 'client'] })
    const groups = [...windows.get(0)!.all()]
    assert.deepEqual(groups.map(({ kind }) => `${kind.model} ${kind.client}`).sort(), [
      'model-1 c1',
      'model-1 null',
      'model-2 c1',
      'model-2 null',
      'null c1',
      'null null',
    ])
    const few = (await sum({ by: ['model', 'client'], maxGroups: 4 })).windows.get(0)!
    assert.equal(few.size, 4)
    assert.equal(few.rest.count + [...few.all()].reduce((count, { sum }) => count + sum.count, 0), 600)
    const newest = await sum({ maxScanned: 250 })
    assert.ok(newest.scanned >= 250 && newest.scanned <= 251)
    assert.ok(newest.completeSince > born + 448_000 && newest.completeSince <= born + 450_000)
    assert.equal(newest.windows.get(0)!.size, 1)
    assert.equal(
      (await logs.sum(kept.account, 'nobody', { time, filters: [], by: [], width: null, maxGroups: 1 }))
        .windows.size,
      0,
    )
  })

  test(`${name}: the mark of a window changes with its entries, and only with them`, async t => {
    const { logs, kept, append } = await start(place, t)
    const born = Date.UTC(2026, 0, 2)
    const home = [kept.account, kept.id] as const
    const windows = { since: born, width: 60_000, count: 150 }
    const marks = async () => (await logs.marks(...home, windows)).map(({ mark }) => mark)
    const at = (minute: number, count: number) =>
      logEntries(kept, count, i => ({ createdAt: born + minute * 60_000 + i }))
    const changed = (one: readonly string[], other: readonly string[]) =>
      one.flatMap((mark, i) => (mark === other[i] ? [] : [i]))
    const empty = await marks()
    assert.deepEqual(new Set(empty), new Set([empty[0]]))
    assert.equal(
      (await logs.marks(...home, windows)).every(({ maxEntries: most }) => most === 0),
      true,
    )
    const first = at(3, 130)
    await append(first)
    const one = await marks()
    assert.deepEqual(changed(empty, one), [3])
    assert.ok((await logs.marks(...home, windows))[3]!.maxEntries >= 130)
    const second = at(140, 130)
    await append(second)
    const two = await marks()
    assert.deepEqual(changed(one, two), [140])
    await append(at(140, 1))
    const three = await marks()
    assert.deepEqual(changed(two, three), [140])
    // One goes at the beginning, and one comes.
    await append(at(140, 1), 261)
    const four = await marks()
    assert.deepEqual(changed(three, four), [3, 140])
    const [, , third] = second
    await logs.remove(...home, logQuery({ filters: [{ field: 'id', operator: 'eq', values: [third!.id] }] }))
    await append(at(140, 1))
    assert.ok(changed(four, await marks()).includes(140))
    assert.deepEqual(await marks(), await marks())
  })

  test(`${name}: a window has another mark when an entry takes the place of one that was removed`, async t => {
    const { logs, kept, append } = await start(place, t)
    const born = Date.UTC(2026, 0, 2)
    const home = [kept.account, kept.id] as const
    const mark = async () => (await logs.marks(...home, { since: born, width: 60_000, count: 1 }))[0]!.mark
    const entries = logEntries(kept, 4, i => ({ createdAt: born + i }))
    const [first, second, , last] = entries
    await append([first!, second!, last!])
    const before = await mark()
    await logs.remove(...home, logQuery({ filters: [{ field: 'id', operator: 'eq', values: [second!.id] }] }))
    await append([entries[2]!])
    assert.notEqual(await mark(), before)
  })

  test(`${name}: sums of a window are there under its mark, and go when it changes`, async t => {
    const { store, logs, kept, append } = await start(place, t)
    const home = [kept.account, kept.id] as const
    const [width, born] = [60_000, Date.UTC(2026, 0, 2)]
    const marked = async (at: number) => {
      const since = born + at * width
      const [window] = await logs.marks(...home, { since, width, count: 1 })
      return { since, width, mark: window!.mark }
    }
    const sumOf = (model: string) => {
      const cells = new Cells()
      for (const entry of logEntries(kept, 3, () => ({ model }))) cells.add(entry)
      return cells.toText()
    }
    await logs.keepSum(...home, await marked(0), sumOf('none'))
    assert.deepEqual(await logs.keptSums(...home, [await marked(0)]), [null])
    const entries = logEntries(kept, 20, i => ({ createdAt: born + i * (width / 2) }))
    await append(entries.slice(0, 10))
    const odd = sumOf('a \n "model" \\ ✓')
    const [first, second, third] = [await marked(0), await marked(1), await marked(2)]
    await logs.keepSum(...home, first, odd)
    await logs.keepSum(...home, second, sumOf('first'))
    await logs.keepSum(...home, second, sumOf('second'))
    assert.deepEqual(await logs.keptSums(...home, [second, first, third]), [sumOf('second'), odd, null])
    assert.deepEqual(await logs.keptSums(...home, []), [])
    await append(logEntries(kept, 1, () => ({ createdAt: born + 1 })))
    assert.deepEqual(await logs.keptSums(...home, [await marked(0), second]), [null, sumOf('second')])
    await logs.keepSum(...home, await marked(0), sumOf('third'))
    await logs.remove(...home, logQuery({ limit: 1 }))
    assert.deepEqual(await logs.keptSums(...home, [await marked(0)]), [null])
    const last = await marked(4)
    await logs.keepSum(...home, last, sumOf('last'))
    await store.gateways.remove(...home)
    assert.deepEqual(await logs.keptSums(...home, [last]), [null])
    await logs.keepSum(...home, last, sumOf('late'))
    await store.gateways.insert(kept)
    assert.deepEqual(await logs.keptSums(...home, [last]), [null])
  })

  test(`${name}: what comes is read from the end on, once each`, async t => {
    const { logs, kept, append } = await start(place, t)
    const home = [kept.account, kept.id] as const
    assert.deepEqual((await logs.tail(...home, null, 10)).items, [])
    const before = await logs.tail(...home, null, 10)
    const entries = logEntries(kept, 500).toReversed()
    await append(entries.slice(0, 300))
    const last = await logs.tail(...home, null, 10)
    assert.deepEqual(last.items, entries.slice(290, 300).map(summary))
    assert.deepEqual(await logs.tail(...home, last.end, 10), { items: [], end: last.end })
    await append(entries.slice(300, 310))
    await append(entries.slice(310))
    const shown: LogSummary[] = []
    for (let { end } = last; ; ) {
      const { items, end: next } = await logs.tail(...home, end, 64)
      if (items.length === 0) break
      assert.ok(items.length <= 64)
      shown.push(...items)
      end = next
    }
    assert.deepEqual(shown, entries.slice(300).map(summary))
    assert.deepEqual((await logs.tail(...home, before.end, 3)).items, entries.slice(0, 3).map(summary))
    await logs.remove(...home, logQuery({ limit: 1_000 }))
    const late = logEntries(kept, 2)
    await append(late)
    assert.deepEqual((await logs.tail(...home, last.end, 10)).items, late.map(summary))
  })
}

const bareMembers: Partial<LogEntry> = {
  model: null,
  error: 'bad_gateway',
  success: false,
  status: 502,
  timeToFirstByte: null,
  tokensIn: null,
  tokensOut: null,
  cost: null,
  cached: true,
  authenticated: false,
  streamed: true,
  metadata: null,
  requestContentType: null,
  responseContentType: null,
  request: null,
  response: null,
}

async function start(place: Place, t: TestContext) {
  const store = await (await place(t))()
  const kept = gateway()
  await store.gateways.insert(kept)
  const append = (entries: readonly LogEntry[], most = 1000, strategy?: LogStrategy) =>
    store.logs.append(kept.account, kept.id, batchOf(entries), limit(most, strategy))
  /** Appends entries of which nobody knows whether they were appended before. */
  const repeat = (entries: readonly LogEntry[], most = 1000, strategy?: LogStrategy) =>
    store.logs.append(kept.account, kept.id, batchOf(entries, true), limit(most, strategy))
  return { store, logs: store.logs, kept, append, repeat }
}

/** Cuts entries into batches of these sizes, from the beginning again where they are used up. */
function batchesOf(entries: readonly LogEntry[], sizes: readonly number[]): LogEntry[][] {
  const batches: LogEntry[][] = []
  for (let at = 0; at < entries.length; at += batches.at(-1)!.length)
    batches.push(entries.slice(at, at + sizes[batches.length % sizes.length]!))
  return batches
}

function inTime(entries: readonly LogEntry[], descending: boolean): LogEntry[] {
  const sorted = entries.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
  return descending ? sorted.reverse() : sorted
}

/** Tells which entries are kept, as they came, when others are added. */
function keptOf(
  kept: readonly LogEntry[],
  added: readonly LogEntry[],
  { maxEntries: most, strategy }: ReturnType<typeof limit>,
): LogEntry[] {
  const stops = strategy === 'STOP_INSERTING'
  if (stops && (most === 0 || kept.length > most)) return [...kept]
  const all = [...kept, ...added.filter(entry => !kept.includes(entry))]
  const chosen = inTime(all, !stops).slice(0, most)
  return all.filter(entry => chosen.includes(entry))
}

const limit = (maxEntries: number, strategy: LogStrategy = 'DELETE_OLDEST') => ({
  maxEntries,
  strategy,
})

const idsOf = (entries: readonly LogEntry[]): string[] => entries.map(({ id }) => id)

/** Gives how many match, and then the ids of the page. */
async function ids(
  logs: Store['logs'],
  { account, id }: Gateway,
  query: Parameters<Store['logs']['list']>[2],
) {
  const { items, total } = await logs.list(account, id, query)
  return [total, ...items.map(item => item.id)]
}

function summary(entry: LogEntry): LogSummary {
  const { request: _request, response: _response, providerResponse: _provider, ...rest } = entry
  return rest
}

/** Reads a list to its end; gives the ids. */
async function scanned(
  logs: Store['logs'],
  { account, id }: Gateway,
  query: Omit<LogScanQuery, 'filters'> & { readonly filters?: readonly LogFilter[] },
): Promise<string[]> {
  const found: string[] = []
  for (let after: LogScanQuery['after'] = null; ; ) {
    const { items, next } = await logs.scan(account, id, { filters: [], ...query, after })
    assert.ok(items.length <= query.limit)
    found.push(...items.map(({ id }) => id))
    if (next === null) return found
    after = next
  }
}

function totalOf(cells: Cells) {
  const total = new CallSum()
  total.merge(cells.rest)
  for (const { sum } of cells.all()) total.merge(sum)
  return total.toRecord()
}

function sumOf(entries: readonly LogEntry[]) {
  const sum = new CallSum()
  for (const entry of entries) sum.add(entry)
  return sum.toRecord()
}
