// Writes to the file of its argument without end, and prints each id once its write was acknowledged; a test kills it.
import { batchOf } from '../../../src/store/log-batch-writer.ts'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { gateway, hex, logEntries, token } from '../contract-specimens.ts'

const account = process.argv[3]!
const store = await SqliteStore.open(process.argv[2]!, { commandTimeout: 5000 })
const limit = { most: 1_000_000, strategy: 'DELETE_OLDEST' } as const
const logged = gateway({ account, id: hex(8) })
await store.gateways.insert(logged)
for (;;) {
  const kept = token({ account })
  await store.tokens.insert(kept)
  console.log(`token ${kept.id}`)
  const entries = logEntries(logged, 3)
  await store.logs.append(account, logged.id, batchOf(entries), limit)
  for (const { id } of entries) console.log(`${logged.id} ${id}`)
}
