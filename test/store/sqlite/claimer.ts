// Claims what is due in the file of its argument, a few clients at a time until there is none, and prints their ids; it begins when a line comes in.
import { once } from 'node:events'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'

const store = await SqliteStore.open(process.argv[2]!, { commandTimeout: 10_000 })
console.log('ready')
await once(process.stdin, 'data')
for (;;) {
  const claimed = await store.oauthClients.claimDue(7, 600_000)
  if (claimed.length === 0) break
  for (const { record } of claimed) console.log(record.id)
}
await store.close()
process.exit()
