// The promises of a store about audit entries.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '../../src/store/records.ts'
import type { AuditQuery } from '../../src/store/store.ts'
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
}

/** Makes entries of an account, of such times; their ids rise with them. */
function inOrder(account: string, times: readonly number[]): readonly AuditEntry[] {
  return times.map((at, i) => auditEntry({ account, at, id: i.toString(16).padStart(32, '0') }))
}
