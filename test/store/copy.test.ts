import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { copyStore } from '../../src/store/copy.ts'
import { batchOf } from '../../src/store/log-batch-writer.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { account, gateway, logEntries, token } from './contract-specimens.ts'

async function empty(t: TestContext): Promise<Store> {
  const store = await openStore('sqlite::memory:', { commandTimeout: 500 })
  t.after(() => store.close())
  return store
}

/** Fills a store with two accounts of 120 tokens and two gateways each, one with 700 log entries. */
async function filled(t: TestContext): Promise<Store> {
  const store = await empty(t)
  for (const owner of [account({ createdAt: 1 }), account({ createdAt: 2 })]) {
    await store.accounts.insert(owner)
    for (let i = 0; i < 120; i++) await store.tokens.insert(token({ account: owner.id, issuedOn: i }))
    for (const id of ['default', 'quiet']) await store.gateways.insert(gateway({ account: owner.id, id }))
    const entries = logEntries(gateway({ account: owner.id }), 700, i => (i % 2 ? { request: null } : {}))
    await store.logs.append(owner.id, 'default', batchOf(entries), { most: 1000, strategy: 'DELETE_OLDEST' })
  }
  return store
}

/** Gives all that a store holds. */
async function everything({ accounts, gateways, tokens, logs }: Store) {
  const owners = await accounts.list()
  const held = owners.map(async ({ id }) => ({
    gateways: await gateways.list(id, { offset: 0, limit: 1000 }),
    tokens: await tokens.list(id, { offset: 0, limit: 1000 }),
    entries: (await Array.fromAsync(logs.entries(id, 'default'))).flat(),
    quiet: await logs.count(id, 'quiet'),
  }))
  return { owners, held: await Promise.all(held) }
}

test('everything of a store is copied to an empty one', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  assert.deepEqual(await copyStore(from, to), { accounts: 2, gateways: 4, tokens: 240, logEntries: 1400 })
  assert.deepEqual(await everything(to), await everything(from))
})

test('an empty store is copied as nothing', async t => {
  const counts = await copyStore(await empty(t), await empty(t))
  assert.deepEqual(counts, { accounts: 0, gateways: 0, tokens: 0, logEntries: 0 })
})

test('a store that holds an account is not copied to', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  await to.accounts.insert(account())
  await assert.rejects(copyStore(from, to), {
    message: 'sqlite::memory: holds an account already: name an empty store to copy to',
  })
  assert.equal((await to.accounts.list()).length, 1)
})

test('a copy that fails says what was copied, and why not all', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  const [, second] = await from.accounts.list()
  await to.gateways.insert(gateway({ account: second!.id, id: 'quiet' }))
  await assert.rejects(copyStore(from, to), {
    message:
      'the copy to sqlite::memory: is not whole: the gateway quiet is there already. Copied were accounts: 2, gateways: 3, tokens: 240, log entries: 1400. Empty it and copy again',
  })
})
