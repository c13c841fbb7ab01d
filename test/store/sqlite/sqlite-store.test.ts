import type { TestContext } from 'node:test'
import { type Clock, systemClock } from '../../../src/base/clock.ts'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { storeContract } from '../contract.ts'
import { temporaryFile } from './temporary-file.ts'

storeContract('sqlite', t => {
  const file = temporaryFile(t)
  return clock => opened(t, file, clock)
})

async function opened(t: TestContext, file: string, clock: Clock = systemClock): Promise<SqliteStore> {
  const store = await SqliteStore.open(file, { commandTimeout: 2000, clock })
  t.after(() => store.close())
  return store
}
