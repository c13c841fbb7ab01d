import type { TestContext } from 'node:test'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { storeContract } from '../contract.ts'
import { temporaryFile } from './temporary-file.ts'

const options = { commandTimeout: 2000 }

storeContract('sqlite', t => {
  const file = temporaryFile(t)
  return () => opened(t, file)
})

async function opened(t: TestContext, file: string): Promise<SqliteStore> {
  const store = await SqliteStore.open(file, options)
  t.after(() => store.close())
  return store
}
