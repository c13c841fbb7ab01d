// Claims what is due in the file of its argument, and prints the ids: a few clients when a line comes in, and all others when the next one does.
import { once } from 'node:events'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'

const store = await SqliteStore.open(process.argv[2]!, { commandTimeout: 10_000 })
const claim = async () => {
  const claimed = await store.oauthClients.claimDue(7, 600_000)
  for (const { record } of claimed) console.log(record.id)
  return claimed.length
}
console.log('ready')
await once(process.stdin, 'data')
await claim()
await once(process.stdin, 'data')
while ((await claim()) > 0);
await store.close()
// No exit: what the parent has not read yet would be lost.
process.stdin.destroy()
