// The promises of a store about audit entries.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '../../src/store/records/records.ts'
import type { AuditQuery, DropTeller } from '../../src/store/contract/store.ts'
import type { Place } from './contract.ts'
import { auditEntry, auditQuery, hex } from './contract-specimens.ts'

export function auditContract(name: string, place: Place): void {
  test(`${name}: an audit entry is kept as it was given, for its account only`, async t => {
    const { audit } = await (await place(t))()
    const kept = auditEntry({ action: 'rotate_secret', changed: [], address: '192.0.2.7' })
    assert.deepEqual(await audit.list(kept.account, auditQuery()), { items: [], total: 0 })
    await audit.append(kept)
    await audit.append(auditEntry())
    assert.deepEqual(await audit.list(kept.account, auditQuery()), { items: [kept], total: 1 })
  })

  test(`${name}: an audit entry that is there already stays as it is`, async t => {
    const { audit } = await (await place(t))()
    const kept = auditEntry()
    await audit.append(kept)
    await audit.append({ ...kept, at: kept.at + 1, action: 'delete' })
    assert.deepEqual(await audit.list(kept.account, auditQuery()), { items: [kept], total: 1 })
  })

  test(`${name}: audit entries are listed by time and then id, from either end, a page at a time`, async t => {
    const { audit } = await (await place(t))()
    const ordered = inOrder(hex(16), [9, 1_000, 1_000, 1_000, 20_000, Date.now()])
    for (const i of [3, 0, 4, 2, 5, 1]) await audit.append(ordered[i]!)
    const list = (more: Partial<AuditQuery>) => audit.list(ordered[0]!.account, auditQuery(more))
    assert.deepEqual(await list({}), { items: ordered, total: 6 })
    assert.deepEqual(await list({ descending: true }), { items: ordered.toReversed(), total: 6 })
    assert.deepEqual(await list({ offset: 1, limit: 2 }), { items: ordered.slice(1, 3), total: 6 })
    const newest = { items: ordered.toReversed().slice(1, 4), total: 6 }
    assert.deepEqual(await list({ descending: true, offset: 1, limit: 3 }), newest)
    assert.deepEqual(await list({ offset: 9 }), { items: [], total: 6 })
    assert.deepEqual(await list({ limit: 0 }), { items: [], total: 6 })
  })

  test(`${name}: audit entries are listed from a time on and up to one, which is not among them`, async t => {
    const { audit } = await (await place(t))()
    const ordered = inOrder(hex(16), [1_000, 2_000, 2_000, 3_000, 4_000])
    for (const entry of ordered) await audit.append(entry)
    const list = (more: Partial<AuditQuery>) => audit.list(ordered[0]!.account, auditQuery(more))
    assert.deepEqual(await list({ since: 2_000 }), { items: ordered.slice(1), total: 4 })
    assert.deepEqual(await list({ before: 2_000 }), { items: ordered.slice(0, 1), total: 1 })
    assert.deepEqual(await list({ since: 2_000, before: 4_000 }), { items: ordered.slice(1, 4), total: 3 })
    const page = { since: 2_000, before: 4_000, descending: true, offset: 1, limit: 1 }
    assert.deepEqual(await list(page), { items: [ordered[2]], total: 3 })
    assert.deepEqual(await list({ since: 3_000, before: 3_000 }), { items: [], total: 0 })
    assert.deepEqual(await list({ since: 5_000, before: 1_000 }), { items: [], total: 0 })
  })

  test(`${name}: audit entries of parallel writers are all kept`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open(), open()])
    const ordered = inOrder(
      hex(16),
      Array.from({ length: 60 }, (_, i) => i),
    )
    await Promise.all(ordered.map((entry, i) => stores[i % 3]!.audit.append(entry)))
    const { account } = ordered[0]!
    assert.deepEqual(await stores[0]!.audit.list(account, auditQuery()), { items: ordered, total: 60 })
  })

  test(`${name}: audit entries behind a place are listed whatever is removed meanwhile`, async t => {
    const { audit } = await (await place(t))()
    const ordered = inOrder(hex(16), [1_000, 2_000, 2_000, 2_000, 3_000, 4_000])
    const [, first, middle, last] = ordered as [AuditEntry, AuditEntry, AuditEntry, AuditEntry]
    for (const entry of ordered) await audit.append(entry)
    const list = (more: Partial<AuditQuery>) => audit.list(ordered[0]!.account, auditQuery(more))
    assert.deepEqual(await list({ after: middle }), { items: ordered.slice(3), total: 6 })
    assert.deepEqual(await list({ after: middle, offset: 1, limit: 1 }), { items: [ordered[4]], total: 6 })
    const down = { descending: true, after: middle }
    assert.deepEqual(await list(down), { items: [first, ordered[0]], total: 6 })
    assert.deepEqual(await list({ ...down, since: 1_500 }), { items: [first], total: 5 })
    assert.deepEqual(await list({ after: middle, before: 4_000 }), { items: [last, ordered[4]], total: 5 })
    assert.deepEqual(await list({ after: ordered[0]!, since: 3_000 }), { items: ordered.slice(4), total: 2 })
    assert.deepEqual(await list({ after: ordered[5]! }), { items: [], total: 6 })
    const gone = { at: 2_000, id: `${middle.id.slice(0, -1)}1f` }
    assert.deepEqual((await list({ after: gone })).items, ordered.slice(middle.id < gone.id ? 3 : 2))
  })

  test(`${name}: of an actor with too many entries the oldest are dropped, and nobody else's`, async t => {
    const { audit } = await (await place(t))()
    const account = hex(16)
    const busy = inOrder(account, [1, 2, 3, 4, 5, 6], 'busy')
    const quiet = inOrder(account, [1, 2], 'quiet')
    for (const entry of [...busy, ...quiet]) await audit.append(entry)
    await audit.append(auditEntry({ actor: 'busy', at: 0 }))
    const tell = tellerOf(account)
    const entries = await audit.trim(account, { before: 0, maxOf: () => 4 }, tell)
    assert.deepEqual(entries, [tell('busy', { count: 2, from: 1, to: 2 })])
    const kept = await audit.list(account, auditQuery())
    const expected = [...quiet, ...busy.slice(2), ...entries]
    assert.deepEqual(kept, { items: expected.toSorted(byTime), total: 7 })
    assert.deepEqual(await audit.trim(account, { before: 0, maxOf: () => 4 }, tell), [])
    assert.equal((await audit.list(account, auditQuery())).total, 7)
  })

  test(`${name}: audit entries whose time is over are dropped, in one entry for each actor`, async t => {
    const { audit } = await (await place(t))()
    const account = hex(16)
    const [one, other] = [inOrder(account, [10, 20, 30], 'one'), inOrder(account, [15, 20], 'other')]
    for (const entry of [...one, ...other]) await audit.append(entry)
    const tell = tellerOf(account)
    const entries = await audit.trim(account, { before: 20, maxOf: () => Infinity }, tell)
    assert.deepEqual(entries, [
      tell('one', { count: 1, from: 10, to: 10 }),
      tell('other', { count: 1, from: 15, to: 15 }),
    ])
    const { items } = await audit.list(account, auditQuery())
    assert.deepEqual(items, [...one.slice(1), ...other.slice(1), ...entries].toSorted(byTime))
  })

  test(`${name}: many audit entries are dropped in steps, and told once`, async t => {
    const { audit } = await (await place(t))()
    const account = hex(16)
    const times = Array.from({ length: 450 }, (_, i) => i + 1)
    await Promise.all(inOrder(account, times, 'busy').map(entry => audit.append(entry)))
    const tell = tellerOf(account)
    const entries = await audit.trim(account, { before: 0, maxOf: () => 20 }, tell)
    assert.deepEqual(entries, [tell('busy', { count: 430, from: 1, to: 430 })])
    const kept = await audit.list(account, auditQuery())
    assert.deepEqual([kept.total, kept.items[0]?.at, kept.items.at(-1)], [21, 431, entries[0]])
  })

  test(`${name}: what nothing is told of is dropped all the same`, async t => {
    const { audit } = await (await place(t))()
    const account = hex(16)
    for (const entry of inOrder(account, [1, 2, 3])) await audit.append(entry)
    assert.deepEqual(await audit.trim(account, { before: 3, maxOf: () => 9 }, () => null), [])
    assert.equal((await audit.list(account, auditQuery())).total, 1)
    assert.deepEqual(await audit.trim(account, { before: 9, maxOf: () => 9 }, () => null), [])
    assert.deepEqual(await audit.list(account, auditQuery()), { items: [], total: 0 })
  })

  test(`${name}: of several who trim at once each entry is told by one`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open(), open()])
    const account = hex(16)
    const times = Array.from({ length: 300 }, (_, i) => i + 1)
    await Promise.all(inOrder(account, times, 'busy').map(entry => stores[0]!.audit.append(entry)))
    const limit = { before: 0, maxOf: () => 10 }
    const told = await Promise.all(stores.map(({ audit }) => audit.trim(account, limit, tellerOf(account))))
    const counts = told.flat().map(({ dropped }) => dropped!.count)
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      290,
    )
    const { total } = await stores[0]!.audit.list(account, auditQuery())
    assert.equal(total, 10 + counts.length)
  })
}

/** Makes what tells of dropped entries of an account, in entries of a later time than all others. */
function tellerOf(account: string): DropTeller {
  const entries = new Map<string, AuditEntry>()
  return (actor, dropped) => {
    const entry =
      entries.get(actor) ?? auditEntry({ account, at: 9_999, actor: 'gatehouse', resource: actor })
    entries.set(actor, entry)
    return { ...entry, dropped }
  }
}

/** Makes entries of an account, of such times; their ids rise with them. */
function inOrder(account: string, times: readonly number[], actor = 'somebody'): readonly AuditEntry[] {
  const mark = Buffer.from(actor).toString('hex').slice(0, 8)
  return times.map((at, i) => auditEntry({ account, at, actor, id: mark + i.toString(16).padStart(24, '0') }))
}

function byTime(a: AuditEntry, b: AuditEntry): number {
  return a.at - b.at || (a.id < b.id ? -1 : 1)
}
