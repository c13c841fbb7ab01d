import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fillEmptyStore } from '../../src/process/first-start.ts'
import { openStore } from '../../src/store/open.ts'
import { permissionGroups } from '../../src/tokens/permission-groups.ts'
import { digestOf } from '../../src/tokens/token.ts'

test('an empty store gets an account, a closed gateway and a token that may do everything', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const first = (await fillEmptyStore(store, 7))!
  assert.deepEqual(await store.accounts.get(first.account), {
    id: first.account,
    name: 'default',
    createdAt: 7,
  })
  const { record: gateway } = (await store.gateways.get(first.account, 'default'))!
  assert.deepEqual([gateway.authentication, gateway.collectLogs], [true, true])
  const token = (await store.tokens.findByDigest(digestOf(first.token)))!
  assert.deepEqual(
    token.policies.map(({ accounts, permissionGroups: groups }) => [accounts, groups.length]),
    [[[first.account], permissionGroups.length]],
  )
  assert.equal(await fillEmptyStore(store, 8), null)
})

test('of many processes that start at once on one store, one fills it', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const url = `sqlite:${join(folder, 'gatehouse.db')}`
  const stores = await Promise.all(Array.from({ length: 5 }, () => openStore(url, { commandTimeout: 5_000 })))
  t.after(() => Promise.all(stores.map(store => store.close())))
  const all = await Promise.all(stores.map(store => fillEmptyStore(store, 7)))
  assert.equal(all.filter(Boolean).length, 1)
  assert.equal((await stores[0]!.accounts.list()).length, 1)
})
