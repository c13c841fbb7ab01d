import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { StoreAway } from '../../../src/store/store.ts'
import { oauthClient, verification } from '../contract-specimens.ts'
import { temporaryFile } from './temporary-file.ts'

const lease = 60_000

/** Opens a store in a file whose write lock is held by another program as long as the test wants. */
async function start(t: TestContext) {
  const file = temporaryFile(t)
  const store = await SqliteStore.open(file, { commandTimeout: 50 })
  t.after(() => store.close())
  const other = new DatabaseSync(file)
  t.after(() => other.close())
  return { clients: store.oauthClients, other }
}

test('where nothing is due nobody waits for the lock of the file', async t => {
  const { clients, other } = await start(t)
  const nextCheckAt = Date.now() + 60_000
  await clients.insert(oauthClient({ verification: verification({ nextCheckAt }) }))
  other.exec('BEGIN IMMEDIATE')
  assert.deepEqual(await clients.claimDue(10, lease), [])
})

test('a claim that could not be written gives nothing away', async t => {
  const { clients, other } = await start(t)
  const nextCheckAt = Date.now() - 1_000
  await clients.insert(oauthClient({ verification: verification({ nextCheckAt }) }))
  other.exec('BEGIN IMMEDIATE')
  await assert.rejects(clients.claimDue(10, lease), StoreAway)
  other.exec('ROLLBACK')
  assert.equal((await clients.claimDue(10, lease)).length, 1)
})
