import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { everybody } from '../../../src/store/records/people.ts'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { auditQuery, hex } from '../contract-specimens.ts'
import { temporaryFile } from './temporary-file.ts'

const writer = join(import.meta.dirname, 'writer.ts')

/** Starts a writer, kills it after so many lines, and gives all that it said before it was gone. */
async function killAfter(t: TestContext, file: string, account: string, lines: number): Promise<string[]> {
  const child = spawn(process.execPath, [writer, file, account], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const said: string[] = []
  for await (const line of createInterface(child.stdout)) {
    if (said.push(line) === lines) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  assert.equal(child.signalCode, 'SIGKILL')
  return said
}

/** Kills writers on their way, and opens what they wrote. */
async function killAll(t: TestContext) {
  const file = temporaryFile(t)
  const account = hex(16)
  const said = await Promise.all([120, 200].map(lines => killAfter(t, file, account, lines)))
  const store = await SqliteStore.open(file, { commandTimeout: 2000 })
  t.after(() => store.close())
  return { account, store, said: said.flat().map(line => line.split(' ') as [string, string, string?]) }
}

/** Whether what was said of people and their codes and tokens is so: what was ended may be ended before that is said. */
function checksOf(store: SqliteStore, account: string) {
  const { users, members, credentials, authorizationEvents } = store
  return {
    user: async (id: string) => (await users.get(everybody, id)) !== null,
    member: async (id: string) => (await members.get(account, id)) !== null,
    code: async (digest: string) => (await credentials.get('authorization_code', digest)) !== null,
    consumed: async (digest: string) =>
      (await credentials.get('authorization_code', digest))?.consumedAt === 7,
    tokens: async (_: string, digest?: string) => (await credentials.get('refresh_token', digest!)) !== null,
    event: async (client: string) => (await authorizationEvents.list(account, client)).length === 1,
    ended: async (digest: string) => (await credentials.get('access_token', digest)) === null,
  }
}

test('all writers are killed', async t => {
  const { account, store, said } = await killAll(t)

  await t.test('acknowledged writes survive', async () => {
    const checks = checksOf(store, account)
    const leaving = new Set(said.filter(([kind]) => kind === 'removing').map(([, id]) => id))
    for (const [kind, id, revision] of said) {
      if (kind in checks) assert.ok(await checks[kind as keyof typeof checks](id, revision), `${kind} ${id}`)
      else if (kind === 'token') assert.ok(await store.tokens.get(account, id))
      else if (kind === 'removed') assert.equal(await store.oauthClients.get(account, id), null)
      else if (kind !== 'client' && kind !== 'removing') assert.ok(await store.logs.get(account, kind, id))
      else if (!leaving.has(id)) {
        const kept = await store.oauthClients.get(account, id)
        assert.ok(kept && kept.record.revision >= Number(revision), `${id} ${revision}`)
      }
    }
  })

  await t.test('records, audit entries and responses agree', async () => {
    const { items: clients } = await store.oauthClients.list(account, { offset: 0, limit: 1000 })
    const { items: entries } = await store.audit.list(account, auditQuery({ limit: 1000 }))
    const perClient = Map.groupBy(entries, ({ resource }) => resource)
    for (const { id, revision } of clients) assert.equal(perClient.get(id)?.length, revision, id)
    const left = new Set(clients.map(({ id }) => id))
    for (const [id, { length }] of perClient) if (!left.has(id)) assert.equal(length, 4, id)
    for (const { id } of entries) assert.ok(await store.responses.get(account, id), id)
    assert.ok(said.every(([kind, id]) => kind !== 'client' || perClient.has(id)))
    assert.ok(clients.length > 2)
  })
})
