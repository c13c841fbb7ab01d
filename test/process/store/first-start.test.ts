import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FirstFill } from '../../../src/process/store/first-start.ts'
import { openStore } from '../../../src/store/open.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { digestOf, mintToken } from '../../../src/tokens/token.ts'
import { replicates, startRedis } from '../../help/redis.ts'

test('an empty store gets an account, a closed gateway and a token that may do everything', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const first = (await new FirstFill(store).run(7))!
  assert.deepEqual(await store.accounts.get(first.account), {
    id: first.account,
    name: 'default',
    createdAt: 7,
  })
  const { record: gateway } = (await store.gateways.get(first.account, 'default'))!
  assert.deepEqual([gateway.authentication, gateway.collectLogs], [true, true])
  const token = (await store.tokens.findByDigest(digestOf(first.token!)))!
  assert.deepEqual(
    token.policies.map(({ accounts, permissionGroups: groups }) => [accounts, groups.length]),
    [[[first.account], permissionGroups.length]],
  )
  assert.equal(await new FirstFill(store).run(8), null)
})

test('an empty store takes the given token, which is not shown, and a store with data does not', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const given = mintToken()
  const first = (await new FirstFill(store, given.value).run(7))!
  assert.equal(first.token, null)
  assert.equal((await store.tokens.findByDigest(given.digest))?.account, first.account)
  const other = mintToken()
  assert.equal(await new FirstFill(store, other.value).run(8), null)
  assert.equal(await store.tokens.findByDigest(other.digest), null)
})

test('of many processes that start at the same time on one store, only one fills it', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const url = `sqlite:${join(folder, 'gatehouse.db')}`
  const stores = await Promise.all(Array.from({ length: 5 }, () => openStore(url, { commandTimeout: 5_000 })))
  t.after(() => Promise.all(stores.map(store => store.close())))
  const all = await Promise.all(stores.map(store => new FirstFill(store).run(7)))
  assert.equal(all.filter(Boolean).length, 1)
  assert.equal((await stores[0]!.accounts.list()).length, 1)
})

/** Starts on a primary whose replica hangs, so that nothing is confirmed. */
async function startUnconfirmed(t: TestContext) {
  const primary = await startRedis(t)
  const replica = await startRedis(t, { args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  const store = await openStore(primary.url, { commandTimeout: 1_000 })
  t.after(() => store.close())
  const fill = new FirstFill(store)
  replica.stop()
  await assert.rejects(fill.run(7), StoreUnreachable)
  assert.deepEqual([fill.isUnconfirmed, (await store.accounts.list()).length], [true, 1])
  return { primary, replica, store, fill }
}

test('an unconfirmed first start is reported once it is confirmed, with the token that the store has', async t => {
  const { replica, store, fill } = await startUnconfirmed(t)
  await assert.rejects(fill.run(8), StoreUnreachable)
  replica.cont()
  const first = (await fill.run(9))!
  assert.equal((await store.tokens.findByDigest(digestOf(first.token!)))?.account, first.account)
  assert.deepEqual([fill.isUnconfirmed, await fill.run(10)], [false, null])
  assert.equal((await store.accounts.list()).length, 1)
})

test('an unconfirmed first start that was lost is repeated', async t => {
  const { primary, replica, store, fill } = await startUnconfirmed(t)
  replica.cont()
  await primary.ask('FLUSHALL')
  const first = (await fill.run(8))!
  assert.equal((await store.tokens.findByDigest(digestOf(first.token!)))?.account, first.account)
})

test('an unconfirmed first start that was lost and repeated by another process is not reported', async t => {
  const { primary, replica, store, fill } = await startUnconfirmed(t)
  replica.cont()
  await primary.ask('FLUSHALL')
  assert.notEqual(await new FirstFill(store).run(8), null)
  assert.equal(await fill.run(9), null)
  assert.equal((await store.accounts.list()).length, 1)
})
