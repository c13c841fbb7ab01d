import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Clock, systemClock } from '../../../src/base/clock.ts'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { storeContract } from '../contract.ts'
import { logsContract } from '../contract-logs.ts'
import { temporaryFile } from './temporary-file.ts'

storeContract('sqlite', t => {
  const file = temporaryFile(t)
  return clock => opened(t, file, clock)
})

logsContract('sqlite with a log thread', t => {
  const file = temporaryFile(t)
  return clock => opened(t, file, clock, true)
})

async function opened(
  t: TestContext,
  file: string,
  clock: Clock = systemClock,
  hasLogThread = false,
): Promise<SqliteStore> {
  const store = await SqliteStore.open(file, { commandTimeout: 2000, clock, hasLogThread })
  t.after(() => store.close())
  return store
}

test('each store in memory has an identity of its own', async t => {
  const stores = [await opened(t, ':memory:'), await opened(t, ':memory:'), await opened(t, ':memory:')]
  const identities = await Promise.all(stores.map(async store => (await store.adopt()).identity))
  assert.equal(new Set(identities).size, 3)
})
