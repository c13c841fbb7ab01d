// The promises of a store about records that an account owns, tried on gateways.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Gateway, ProviderKey } from '../../src/store/records/records.ts'
import type { Page } from '../../src/store/contract/store.ts'
import { zoneOwner } from '../../src/store/records/zone-lists.ts'
import type { Place } from './contract.ts'
import {
  auditEntry,
  auditQuery,
  customProvider,
  errorPage,
  gateway,
  hex,
  providerKey,
} from './contract-specimens.ts'

const all = { offset: 0, limit: 1000 }

export function recordsContract(name: string, place: Place): void {
  test(`${name}: a record is kept as it was given, and gone once it is removed`, async t => {
    const { gateways } = await (await place(t))()
    const kept = gateway({ id: 'a-b_9', logManagementStrategy: 'STOP_INSERTING', authentication: false })
    assert.equal(await gateways.get(kept.account, kept.id), null)
    assert.equal(await gateways.insert(kept), true)
    assert.deepEqual((await gateways.get(kept.account, kept.id))?.record, kept)
    assert.equal(await gateways.remove(kept.account, kept.id), true)
    assert.equal(await gateways.get(kept.account, kept.id), null)
    assert.equal(await gateways.remove(kept.account, kept.id), false)
  })

  test(`${name}: the same id is another record in another account`, async t => {
    const { gateways } = await (await place(t))()
    const [ours, theirs] = [gateway(), gateway()]
    assert.equal(await gateways.insert(ours), true)
    assert.equal(await gateways.insert(theirs), true)
    await gateways.remove(ours.account, ours.id)
    assert.deepEqual((await gateways.get(theirs.account, theirs.id))?.record, theirs)
    assert.deepEqual((await gateways.list(ours.account, all)).items, [])
  })

  test(`${name}: a gateway keeps its keys of providers, of which parallel writers lose none`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    const kept = gateway({ byokOnly: true, providerConfigs: [providerKey()] })
    await stores[0]!.gateways.insert(kept)
    assert.deepEqual((await stores[1]!.gateways.get(kept.account, kept.id))?.record, kept)
    const keys = Array.from({ length: 8 }, () => providerKey({ usedAt: 1 }))
    await Promise.all(
      keys.map(async (key, i) => {
        const { gateways } = stores[i % 2]!
        for (;;) {
          const { record, version } = (await gateways.get(kept.account, kept.id))!
          const providerConfigs = [...record.providerConfigs!, key]
          if (await gateways.replace({ ...record, providerConfigs }, version)) return
        }
      }),
    )
    const { providerConfigs } = (await stores[0]!.gateways.get(kept.account, kept.id))!.record
    const byId = (a: ProviderKey, b: ProviderKey) => (a.id < b.id ? -1 : 1)
    const expected = [...kept.providerConfigs!, ...keys].sort(byId)
    assert.deepEqual([...providerConfigs!].sort(byId), expected)
  })

  test(`${name}: a provider of an account is kept as it was given, changed, listed and removed`, async t => {
    const { customProviders } = await (await place(t))()
    const kept = customProvider()
    const theirs = customProvider({ id: kept.id })
    for (const one of [kept, theirs]) assert.equal(await customProviders.insert(one), true)
    assert.equal(await customProviders.insert({ ...kept, name: 'Other' }), false)
    const { record, version } = (await customProviders.get(kept.account, kept.id))!
    assert.deepEqual(record, kept)
    const off = { ...kept, isEnabled: false, headers: [] }
    assert.ok(await customProviders.replace(off, version))
    assert.deepEqual(await customProviders.list(kept.account, all), { items: [off], total: 1 })
    assert.equal(await customProviders.remove(kept.account, kept.id), true)
    assert.equal(await customProviders.get(kept.account, kept.id), null)
    assert.deepEqual((await customProviders.get(theirs.account, theirs.id))?.record, theirs)
  })

  test(`${name}: a record whose id is taken is not kept`, async t => {
    const { gateways } = await (await place(t))()
    const kept = gateway()
    await gateways.insert(kept)
    const before = await gateways.get(kept.account, kept.id)
    assert.equal(await gateways.insert({ ...kept, authentication: false }), false)
    assert.deepEqual(await gateways.get(kept.account, kept.id), before)
  })

  test(`${name}: of parallel inserts of one id, one is kept`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    const kept = gateway()
    const tries = Array.from({ length: 20 }, (_, i) => ({ ...kept, logManagement: i + 1 }))
    const won = await Promise.all(tries.map((one, i) => stores[i % 2]!.gateways.insert(one)))
    assert.equal(won.filter(Boolean).length, 1)
    const read = await stores[0]!.gateways.get(kept.account, kept.id)
    assert.deepEqual(read?.record, tries[won.indexOf(true)])
  })

  test(`${name}: a record whose version is given is removed as that version only`, async t => {
    const { gateways, audit } = await (await place(t))()
    const kept = gateway()
    await gateways.insert(kept)
    const read = (await gateways.get(kept.account, kept.id))!
    await gateways.replace({ ...kept, authentication: false }, read.version)
    const entry = auditEntry({ account: kept.account })
    assert.equal(await gateways.remove(kept.account, kept.id, { audit: entry }, read.version), false)
    const after = (await gateways.get(kept.account, kept.id))!
    assert.equal(after.record.authentication, false)
    assert.equal((await audit.list(kept.account, auditQuery())).total, 0)
    assert.equal(await gateways.remove(kept.account, kept.id, { audit: entry }, after.version), true)
    assert.equal(await gateways.get(kept.account, kept.id), null)
    assert.equal((await audit.list(kept.account, auditQuery())).total, 1)
  })

  test(`${name}: a record is replaced by who read its version, and by nobody else`, async t => {
    const { gateways } = await (await place(t))()
    const kept = gateway()
    await gateways.insert(kept)
    const read = (await gateways.get(kept.account, kept.id))!
    const next: Gateway = { ...kept, authentication: false, modifiedAt: kept.modifiedAt + 1 }
    assert.equal(await gateways.replace(next, read.version), true)
    assert.equal(await gateways.replace({ ...kept, collectLogs: false }, read.version), false)
    const after = (await gateways.get(kept.account, kept.id))!
    assert.deepEqual(after.record, next)
    assert.notEqual(after.version, read.version)
  })

  test(`${name}: a record that is gone is not replaced, nor the one that took its id`, async t => {
    const { gateways } = await (await place(t))()
    const kept = gateway()
    await gateways.insert(kept)
    const { version } = (await gateways.get(kept.account, kept.id))!
    await gateways.remove(kept.account, kept.id)
    assert.equal(await gateways.replace(kept, version), false)
    assert.equal(await gateways.get(kept.account, kept.id), null)
    await gateways.insert(kept)
    assert.equal(await gateways.replace({ ...kept, authentication: false }, version), false)
    assert.deepEqual((await gateways.get(kept.account, kept.id))?.record, kept)
  })

  test(`${name}: no write of parallel writers is lost`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open(), open()])
    const kept = gateway({ logManagement: 0 })
    await stores[0]!.gateways.insert(kept)
    const raise = async (i: number): Promise<void> => {
      const { gateways } = stores[i % stores.length]!
      const { record, version } = (await gateways.get(kept.account, kept.id))!
      const isKept = await gateways.replace({ ...record, logManagement: record.logManagement + 1 }, version)
      if (!isKept) await raise(i)
    }
    await Promise.all(Array.from({ length: 30 }, (_, i) => raise(i)))
    const { record } = (await stores[0]!.gateways.get(kept.account, kept.id))!
    assert.equal(record.logManagement, 30)
  })

  test(`${name}: records are listed by creation and then id, a page at a time`, async t => {
    const { gateways } = await (await place(t))()
    const owner = hex(16)
    const ordered = ['c', 'a', 'b', 'd', 'e'].map((id, i) =>
      gateway({ account: owner, id, createdAt: [1000, 2000, 2000, 2000, 30_000][i]! }),
    )
    for (const i of [3, 0, 4, 2, 1]) await gateways.insert(ordered[i]!)
    await gateways.insert(gateway())
    assert.deepEqual(await gateways.list(owner, all), { items: ordered, total: 5 })
    assert.deepEqual(await gateways.list(owner, { offset: 1, limit: 2 }), {
      items: ordered.slice(1, 3),
      total: 5,
    })
    assert.deepEqual(await gateways.list(owner, { offset: 4, limit: 2 }), {
      items: ordered.slice(4),
      total: 5,
    })
    assert.deepEqual(await gateways.list(owner, { offset: 9, limit: 2 }), { items: [], total: 5 })
    assert.deepEqual(await gateways.list(owner, { offset: 0, limit: 0 }), { items: [], total: 5 })
  })

  test(`${name}: records behind a place are listed from either end, whatever goes or comes meanwhile`, async t => {
    const { gateways } = await (await place(t))()
    const owner = hex(16)
    const ids = ['b-2', 'a_1', 'a-1', 'a', 'b', 'a0', 'aa', 'b_9', 'c']
    const ordered = ids
      .map((id, i) =>
        gateway({ account: owner, id, createdAt: [5, 5, 5, 5, 5, 5, 5, 6, 1_767_225_600_000][i]! }),
      )
      .sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1))
    for (const one of ordered.toReversed()) await gateways.insert(one)
    const places = [...ordered, ...ordered.map(one => ({ ...one, id: `${one.id}-` }))]
    const byPlace = (one: Gateway, other: Gateway) =>
      one.createdAt - other.createdAt || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)
    for (const one of places) {
      const after = { at: one.createdAt, id: one.id }
      const behind = ordered.filter(other => byPlace(other, one) > 0)
      const before = ordered.filter(other => byPlace(other, one) < 0).toReversed()
      assert.deepEqual(await gateways.list(owner, { ...all, after }), { items: behind, total: 9 }, one.id)
      const part = { offset: 1, limit: 2, after }
      assert.deepEqual(await gateways.list(owner, part), { items: behind.slice(1, 3), total: 9 }, one.id)
      assert.deepEqual((await Array.fromAsync(gateways.walk(owner, { after }))).flat(), behind)
      const down = gateways.walk(owner, { after, descending: true })
      assert.deepEqual((await Array.fromAsync(down)).flat(), before)
    }
    assert.deepEqual((await Array.fromAsync(gateways.walk(owner))).flat(), ordered)
    assert.deepEqual(
      (await Array.fromAsync(gateways.walk(owner, { descending: true }))).flat(),
      ordered.toReversed(),
    )
    assert.deepEqual(await Array.fromAsync(gateways.walk(hex(16))), [])
  })

  test(`${name}: a walk hands on what is there all the while, whatever is removed from under it`, async t => {
    const { gateways } = await (await place(t))()
    const owner = hex(16)
    const ids = Array.from({ length: 450 }, (_, i) => String(i).padStart(3, '0'))
    await Promise.all(ids.map(id => gateways.insert(gateway({ account: owner, id, createdAt: 7 }))))
    assert.deepEqual(
      (await gateways.list(owner, { ...all, offset: 30 })).items.map(({ id }) => id),
      ids.slice(30),
    )
    const walked: string[] = []
    for await (const some of gateways.walk(owner)) {
      for (const { id } of some) {
        walked.push(id)
        await gateways.remove(owner, id)
      }
    }
    assert.deepEqual(walked, ids)
  })

  test(`${name}: records that are large are all listed`, async t => {
    const { errorPages } = await (await place(t))()
    const pages = ['a', 'b', 'c', 'd'].map((zone, createdAt) =>
      errorPage({ zone, id: `${zone}/500_errors`, html: zone.repeat(90_000), createdAt }),
    )
    for (const one of pages) await errorPages.insert(one)
    assert.deepEqual((await errorPages.list(zoneOwner, all)).items, pages)
    assert.deepEqual((await errorPages.list(zoneOwner, { offset: 1, limit: 2 })).items, pages.slice(1, 3))
    assert.deepEqual((await Array.fromAsync(errorPages.walk(zoneOwner))).flat(), pages)
  })

  test(`${name}: a record that is replaced keeps its place, one that is removed leaves the list`, async t => {
    const { gateways } = await (await place(t))()
    const owner = hex(16)
    const [a, b, c] = ['a', 'b', 'c'].map((id, i) => gateway({ account: owner, id, createdAt: i * 1000 }))
    for (const one of [a!, b!, c!]) await gateways.insert(one)
    const { version } = (await gateways.get(owner, 'a'))!
    const changed = { ...a!, authentication: false }
    await gateways.replace(changed, version)
    await gateways.remove(owner, 'b')
    assert.deepEqual(await gateways.list(owner, all), { items: [changed, c], total: 2 })
  })

  test(`${name}: a search finds the gateways that have a text in their ids, in the order of the list`, async t => {
    const { gateways } = await (await place(t))()
    const account = hex(16)
    // More than are looked through in one step.
    const all = Array.from({ length: 1_100 }, (_, i) =>
      gateway({ account, id: `${i % 3 === 0 ? 'shop' : 'mail'}-${1_100 - i}`, createdAt: 1_000 + (i >> 1) }),
    )
    for (let at = 0; at < all.length; at += 100)
      await Promise.all(all.slice(at, at + 100).map(one => gateways.insert(one)))
    await gateways.insert(gateway({ id: 'shop-elsewhere' }))
    const ordered = (await gateways.list(account, { offset: 0, limit: 2_000 })).items
    const shops = ordered.filter(({ id }) => id.includes('shop'))
    const search = (text: string, page: Partial<Page> = {}) =>
      gateways.search(account, text, { offset: 0, limit: 3, ...page })
    assert.deepEqual(await search('shop'), { items: shops.slice(0, 3), total: 367 })
    assert.deepEqual(await search('SHOP-', { offset: 365 }), { items: shops.slice(365), total: 367 })
    const { createdAt, id } = shops[364]!
    const after = { at: createdAt, id }
    assert.deepEqual(await search('shop', { after }), { items: shops.slice(365), total: 367 })
    assert.deepEqual(await search('%'), { items: [], total: 0 })
  })
}
