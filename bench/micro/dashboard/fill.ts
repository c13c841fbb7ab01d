// Fills a store with what benches of the dashboard look at: many OAuth clients and members, and a log of many calls.
import { batchOf } from '../../../src/store/log-batch/batch.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { entryWith } from '../../../test/admin/ai-logs/log-entries.ts'
import { member, oauthClient, user } from '../../../test/store/contract-specimens.ts'
import { account } from '../../../test/tokens/token-with.ts'

const clients = 10_000
const members = 1_000
const rows = Number(process.env.ROWS ?? 1_000_000)
const days = 30
const batch = 256

/** Fills the account of tests, with the log of its gateway `default` up to a moment, in ms since the epoch. */
export async function fill(store: Store, now: number): Promise<void> {
  const began = performance.now()
  await inParallel(clients, i => store.oauthClients.insert(oauthClient({ account, name: `Client ${i}` })))
  await inParallel(members, async () => {
    const person = user()
    await store.users.insert(person)
    await store.members.insert(member({ account, user: person.id }))
  })
  for (let done = 0; done < rows; done += batch) {
    const entries = Array.from({ length: batch }, (_, i) => entryOf(done + i, now))
    await store.logs.append(account, 'default', batchOf(entries), {
      maxEntries: 1e9,
      strategy: 'DELETE_OLDEST',
    })
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  console.log(`${clients} clients, ${members} members and ${rows} log entries in ${seconds} s`)
}

function entryOf(n: number, now: number) {
  const isError = n % 50 === 0
  return entryWith(n, {
    id: (2 ** 40 + n).toString(16).padStart(16, '0'),
    createdAt: Math.round(now - (days * 86_400_000 * (rows - n)) / rows),
    model: `model-${(n * 7919) % 5}`,
    tokenId: `token-${(n * 104_729) % 20}`,
    tokenName: `Token ${(n * 104_729) % 20}`,
    success: !isError,
    status: isError ? 502 : 200,
    cost: (n % 1000) / 1e6,
    duration: (n * 7919) % 10_007,
  })
}

async function inParallel(count: number, add: (i: number) => Promise<unknown>): Promise<void> {
  for (let done = 0; done < count; done += 50)
    await Promise.all(Array.from({ length: 50 }, (_, i) => add(done + i)))
}
