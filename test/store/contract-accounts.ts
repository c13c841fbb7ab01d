// The promises of a store about accounts, the first start, and its end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Place } from './contract.ts'
import {
  account,
  auditEntry,
  auditQuery,
  firstStart,
  gateway,
  hex,
  storedResponse,
} from './contract-specimens.ts'

export function accountsContract(name: string, place: Place): void {
  test(`${name}: an account is kept as it was given`, async t => {
    const store = await (await place(t))()
    const kept = account({ name: 'Ærø & “söns” \u{1f600}' })
    assert.equal(await store.accounts.get(kept.id), null)
    assert.equal(await store.accounts.insert(kept), true)
    assert.deepEqual(await store.accounts.get(kept.id), kept)
  })

  test(`${name}: an account whose id is taken is not kept`, async t => {
    const store = await (await place(t))()
    const kept = account()
    await store.accounts.insert(kept)
    assert.equal(await store.accounts.insert({ ...kept, name: 'Another' }), false)
    assert.deepEqual(await store.accounts.list(), [kept])
  })

  test(`${name}: an account and what it begins with are kept together, or nothing of it`, async t => {
    const open = await place(t)
    const [store, other] = await Promise.all([open(), open()])
    const kept = account({ name: 'Ærø' })
    const begins = gateway({ account: kept.id })
    const audit = auditEntry({ account: kept.id })
    const { generation } = await store.adopt()
    assert.equal(await store.accounts.insert(kept, { gateway: begins, audit }), true)
    assert.deepEqual(await other.accounts.list(), [kept])
    assert.deepEqual((await other.gateways.get(kept.id, begins.id))?.record, begins)
    assert.deepEqual((await other.gateways.list(kept.id, { offset: 0, limit: 10 })).items, [begins])
    assert.deepEqual((await other.audit.list(kept.id, auditQuery())).items, [audit])
    assert.ok((await other.mark())!.generation > generation)
    const late = {
      gateway: gateway({ account: kept.id, id: 'late' }),
      audit: auditEntry({ account: kept.id }),
    }
    assert.equal(await other.accounts.insert({ ...kept, name: 'Another' }, late), false)
    assert.deepEqual(await store.accounts.list(), [kept])
    assert.equal(await store.gateways.get(kept.id, 'late'), null)
    assert.equal((await store.audit.list(kept.id, auditQuery())).total, 1)
  })

  test(`${name}: the oldest account is the first of all, whichever came first`, async t => {
    const open = await place(t)
    const [store, other] = await Promise.all([open(), open()])
    assert.equal(await store.accounts.oldest(), null)
    const id = (digit: string) => digit.repeat(32)
    const [first, second, third] = [
      account({ id: id('b'), createdAt: 5 }),
      account({ id: id('c'), createdAt: 9 }),
      account({ id: id('a'), createdAt: 5 }),
    ]
    for (const one of [second, first, third]) {
      await other.accounts.insert(one)
      assert.equal(await store.accounts.oldest(), (await store.accounts.list())[0]!.id)
    }
    assert.equal(await store.accounts.oldest(), third.id)
  })

  test(`${name}: what is set of an account stays, and nothing else changes`, async t => {
    const open = await place(t)
    const [store, other] = await Promise.all([open(), open()])
    const { accounts } = store
    const [kept, beside] = [
      account(),
      account({ createdAt: 1, enforceTwoFactor: true, allowsDocumentClients: true }),
    ]
    for (const one of [kept, beside]) await accounts.insert(one)
    assert.equal(await accounts.update(kept.id, { enforceTwoFactor: true }), true)
    assert.deepEqual(await other.accounts.get(kept.id), { ...kept, enforceTwoFactor: true })
    assert.equal(await accounts.update(kept.id, { name: 'Ærø' }), true)
    assert.equal(await accounts.update(kept.id, {}), true)
    assert.deepEqual(await other.accounts.get(kept.id), { ...kept, name: 'Ærø', enforceTwoFactor: true })
    assert.equal(await accounts.update(kept.id, { allowsDocumentClients: true }), true)
    assert.equal(await accounts.update(kept.id, { enforceTwoFactor: false }), true)
    assert.deepEqual(await other.accounts.get(kept.id), { ...kept, name: 'Ærø', allowsDocumentClients: true })
    assert.equal(await accounts.update(kept.id, { allowsDocumentClients: false }), true)
    assert.deepEqual(await other.accounts.list(), [beside, { ...kept, name: 'Ærø' }])
  })

  test(`${name}: of an account nothing set at once is lost, and what goes with it is there, or nothing of both`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    const [{ accounts, audit, responses }] = stores
    const kept = account()
    await accounts.insert(kept)
    const response = storedResponse({ account: kept.id })
    const names = Array.from({ length: 10 }, (_, i) => `name ${i}`)
    const done = await Promise.all([
      ...names.map((name, i) =>
        stores[i % 2]!.accounts.update(kept.id, { name }, { audit: auditEntry({ account: kept.id }) }),
      ),
      stores[1]!.accounts.update(kept.id, { enforceTwoFactor: true }, { response }),
    ])
    assert.ok(done.every(Boolean))
    const after = (await accounts.get(kept.id))!
    assert.ok(names.includes(after.name) && after.enforceTwoFactor)
    assert.deepEqual(await responses.get(kept.id, response.key), response)
    const late = { audit: auditEntry({ account: kept.id }), response }
    assert.equal(await accounts.update(kept.id, { name: 'late' }, late), false)
    assert.equal(
      await accounts.update(hex(16), { name: 'nobody' }, { audit: auditEntry({ account: kept.id }) }),
      false,
    )
    assert.deepEqual(await accounts.get(kept.id), after)
    assert.equal((await audit.list(kept.id, auditQuery())).total, 10)
  })

  test(`${name}: accounts are listed by creation`, async t => {
    const store = await (await place(t))()
    const [third, first, second] = [30, 10, 20].map(createdAt => account({ createdAt }))
    for (const one of [third!, first!, second!]) await store.accounts.insert(one)
    assert.deepEqual(await store.accounts.list(), [first, second, third])
  })

  test(`${name}: a first start keeps its four records, the key in place of one from before`, async t => {
    const store = await (await place(t))()
    const first = firstStart()
    const owner = first.account.id
    const { tokenKey } = firstStart()
    assert.equal(await store.tokenKeys.insert(tokenKey), true)
    assert.equal(await store.bootstrap(first), true)
    assert.deepEqual(await store.tokenKeys.list(tokenKey.account, { offset: 0, limit: 10 }), {
      items: [first.tokenKey],
      total: 1,
    })
    assert.deepEqual(await store.accounts.list(), [first.account])
    assert.deepEqual((await store.gateways.get(owner, first.gateway.id))?.record, first.gateway)
    assert.deepEqual((await store.tokens.get(owner, first.token.id))?.record, first.token)
    assert.deepEqual(await store.tokens.findByDigest(first.token.digest), first.token)
    assert.equal((await store.gateways.list(owner, { offset: 0, limit: 10 })).total, 1)
  })

  test(`${name}: there is no first start where there is an account`, async t => {
    const store = await (await place(t))()
    const kept = account()
    await store.accounts.insert(kept)
    const late = firstStart()
    assert.equal(await store.bootstrap(late), false)
    assert.deepEqual(await store.accounts.list(), [kept])
    assert.equal(await store.tokens.findByDigest(late.token.digest), null)
    assert.equal(await store.tokenKeys.get(late.tokenKey.account, late.tokenKey.id), null)
    assert.equal(await store.gateways.get(late.account.id, late.gateway.id), null)
  })

  test(`${name}: of twenty first starts at once, one is kept`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open(), open(), open()])
    const starts = Array.from({ length: 20 }, firstStart)
    const kept = await Promise.all(starts.map((first, i) => stores[i % stores.length]!.bootstrap(first)))
    const winners = starts.filter((_, i) => kept[i])
    assert.equal(winners.length, 1)
    assert.deepEqual(await stores[0]!.accounts.list(), [winners[0]!.account])
    const tokens = await Promise.all(starts.map(({ token }) => stores[1]!.tokens.findByDigest(token.digest)))
    assert.deepEqual(tokens.filter(Boolean), [winners[0]!.token])
  })

  test(`${name}: what one handle wrote, another one reads, and one that is opened later`, async t => {
    const open = await place(t)
    const [writer, reader] = await Promise.all([open(), open()])
    const kept = gateway({ id: hex(8) })
    await writer.gateways.insert(kept)
    assert.deepEqual((await reader.gateways.get(kept.account, kept.id))?.record, kept)
    await writer.close()
    assert.deepEqual((await (await open()).gateways.get(kept.account, kept.id))?.record, kept)
  })

  test(`${name}: a store reports its location and is reachable; one that was closed twice rejects`, async t => {
    const store = await (await place(t))()
    assert.match(store.location, /^[a-z+]+:/)
    assert.equal(store.isUnreachable, false)
    for (const sentence of await store.durability()) assert.match(sentence, /^[A-Z].*\.$/)
    await store.close()
    await store.close()
    await assert.rejects(store.accounts.list(), { code: 'GH_STORE_AWAY' })
  })
}
