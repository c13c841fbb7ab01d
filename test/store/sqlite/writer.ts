// Writes to the file of its argument without end, and prints each id once its write was acknowledged (and before a removal); a test kills it.
import { batchOf } from '../../../src/store/log-batch/batch.ts'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import {
  auditEntry,
  authorizationEvent,
  credential,
  gateway,
  hex,
  storedResponse,
  logEntries,
  member,
  oauthClient,
  token,
  user,
} from '../contract-specimens.ts'

const account = process.argv[3]!
const store = await SqliteStore.open(process.argv[2]!, { commandTimeout: 5000, hasLogThread: true })
const limit = { maxEntries: 1_000_000, strategy: 'DELETE_OLDEST' } as const
const logged = gateway({ account, id: hex(8) })
await store.gateways.insert(logged)
// Several at a time, so that they share transactions.
await Promise.all([0, 1, 2, 3].map(write))

async function write(): Promise<void> {
  for (let turn = 0; ; turn++) {
    const kept = token({ account })
    await store.tokens.insert(kept)
    console.log(`token ${kept.id}`)
    const entries = logEntries(logged, 3)
    await store.logs.append(account, logged.id, batchOf(entries), limit)
    for (const { id } of entries) console.log(`${logged.id} ${id}`)
    await changeClient(turn % 3 === 2)
    await exchangeCode()
  }
}

/** Invites a person, has a code of theirs consumed, keeps the tokens for it, and ends the first of them. */
async function exchangeCode(): Promise<void> {
  const person = user()
  await store.users.insert(person)
  console.log(`user ${person.id}`)
  const joined = member({ account, user: person.id })
  await store.members.insert(joined)
  console.log(`member ${joined.id}`)
  const owners = { user: person.id, client: null, grant: hex(16) }
  const code = credential('authorization_code', owners)
  await store.credentials.put(code)
  console.log(`code ${code.digest}`)
  await store.credentials.consume(code.kind, code.digest, 7)
  console.log(`consumed ${code.digest}`)
  const [access, refresh] = [credential('access_token', owners), credential('refresh_token', owners)]
  await store.credentials.putAll([access, refresh])
  console.log(`tokens ${access.digest} ${refresh.digest}`)
  await store.authorizationEvents.append(authorizationEvent({ client: person.id, clientAccount: account }))
  console.log(`event ${person.id}`)
  await store.credentials.remove('access_token', access.digest)
  console.log(`ended ${access.digest}`)
}

/** Writes a client three times, or removes it in the end; its revision is how many audit entries and responses it has. */
async function changeClient(isRemoved: boolean): Promise<void> {
  const client = oauthClient({ account })
  const { id } = client
  await store.oauthClients.insert(client, beside(id))
  console.log(`client ${id} 1`)
  for (const revision of [2, 3]) {
    const { version } = (await store.oauthClients.get(account, id))!
    await store.oauthClients.replace({ ...client, revision }, version, beside(id))
    console.log(`client ${id} ${revision}`)
  }
  if (!isRemoved) return
  console.log(`removing ${id}`)
  await store.oauthClients.remove(account, id, beside(id))
  console.log(`removed ${id}`)
}

/** What is written with a client; the response has the key of the audit entry, so that a test finds it. */
function beside(resource: string) {
  const audit = auditEntry({ account, resource, at: Date.now() })
  return { audit, response: storedResponse({ account, key: audit.id }) }
}
