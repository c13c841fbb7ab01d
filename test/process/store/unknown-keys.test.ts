import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createLogger } from '../../../src/log/log.ts'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import { warnOfUnknownKeys } from '../../../src/process/store/unknown-keys.ts'
import { beginEnrolment } from '../../../src/people/second-factor/second-factor.ts'
import type { User } from '../../../src/store/records/people.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { startRedis } from '../../help/redis.ts'
import { until } from '../../help/until.ts'
import { account, clientSecret, hex, oauthClient, user } from '../../store/contract-specimens.ts'
import { temporaryFile } from '../../store/sqlite/temporary-file.ts'

const backends: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  SQLite: async t => `sqlite:${temporaryFile(t)}`,
  Redis: async t => (await startRedis(t)).url,
}

const [current, old] = [randomBytes(32), randomBytes(32)]
const keys = new SecretKeys(current, [old])
const known = [keys.currentId, new SecretKeys(old).currentId]

async function open(t: TestContext, url: string): Promise<Store> {
  const store = await openStore(url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  return store
}

async function keepAccount(store: Store): Promise<string> {
  const made = account()
  assert.ok(await store.accounts.insert(made))
  return made.id
}

/** Keeps a client with a secret under each of these keys, after all those that are there. */
async function keepClient(store: Store, owner: string, ids: readonly string[], createdAt = 0): Promise<void> {
  const secrets = ids.map(key => clientSecret({ key }))
  assert.ok(await store.oauthClients.insert(oauthClient({ account: owner, secrets, createdAt })))
}

/** Makes a user with an app whose secret is sealed under these keys. */
function withApp(sealing: SecretKeys): User {
  const begun = beginEnrolment(user(), sealing)!.user
  return { ...begun, totp: { ...begun.totp!, confirmedAt: 1 } }
}

/** Begins to look; gives the lines of the log, and what settles with the end. */
function look(store: Store, end = new AbortController()) {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  return { lines, end, done: warnOfUnknownKeys(store, keys, log, end.signal) }
}

for (const [name, place] of Object.entries(backends)) {
  test(`secrets under unknown keys are reported in one warning, for all clients of all accounts (${name})`, async t => {
    const store = await open(t, await place(t))
    const [one, other] = [hex(4), hex(4)]
    const [first, second] = [await keepAccount(store), await keepAccount(store)]
    await keepClient(store, first, [known[0]!, one])
    for (let i = 0; i < 450; i++) await keepClient(store, first, known, i)
    await keepClient(store, first, [one, other], 1_000)
    await keepClient(store, second, [other])
    await keepClient(store, second, [])
    const { lines, done } = look(store)
    await done
    const [{ msg, keys: told, ...line }, ...more] = lines as [Record<string, unknown>]
    assert.deepEqual(more, [])
    assert.match(
      String(msg),
      /^client secrets rejected: made with unknown keys; add these keys to secrets\.old_keys/,
    )
    assert.deepEqual((told as string[]).toSorted(), [one, other].toSorted())
    assert.partialDeepStrictEqual(line, { level: 'warn', secrets: 4, clients: 3, current: keys.currentId })
  })

  test(`users whose apps were sealed under unknown keys are reported in one warning (${name})`, async t => {
    const store = await open(t, await place(t))
    const [lost, before] = [new SecretKeys(randomBytes(32)), new SecretKeys(old)]
    const apps = [lost, ...Array(120).fill(before), keys, lost] as SecretKeys[]
    for (const sealing of apps) await store.users.insert(withApp(sealing))
    const pending = withApp(lost)
    await store.users.insert({ ...pending, totp: { ...pending.totp!, confirmedAt: null } })
    await store.users.insert(user())
    const { lines, done } = look(store)
    await done
    const [{ msg, ...line }, ...more] = lines as [Record<string, unknown>]
    assert.deepEqual(more, [])
    assert.match(String(msg), /^codes of authenticator apps rejected: .* add these keys to secrets\.old_keys/)
    assert.partialDeepStrictEqual(line, { level: 'warn', users: 2, current: keys.currentId })
  })

  test(`where all keys are known, or there is no client, nothing is logged (${name})`, async t => {
    const store = await open(t, await place(t))
    const empty = look(store)
    await empty.done
    const owner = await keepAccount(store)
    await keepClient(store, owner, known)
    await keepClient(store, owner, [])
    const { lines, done } = look(store)
    await done
    assert.deepEqual([...empty.lines, ...lines], [])
  })
}

test('an unreachable store is waited for silently', async t => {
  const server = await startRedis(t, { aof: 'always' })
  const before = await open(t, server.url)
  await keepClient(before, await keepAccount(before), [hex(4)])
  await server.kill()
  const store = await open(t, server.url)
  await until(() => store.isUnreachable)
  const { lines, done } = look(store)
  await assert.rejects(store.accounts.list())
  assert.deepEqual(lines, [])
  await server.restart()
  await done
  assert.partialDeepStrictEqual(lines, [{ level: 'warn', secrets: 1, clients: 1 }])
})

test('it stops on request, silently, whether the store is reachable or not', async t => {
  const server = await startRedis(t)
  const store = await open(t, server.url)
  const owner = await keepAccount(store)
  await keepClient(store, owner, [hex(4)])
  const there = look(store)
  there.end.abort()
  await there.done
  await server.kill()
  await until(() => store.isUnreachable)
  const away = look(store)
  await assert.rejects(store.accounts.list())
  away.end.abort()
  await away.done
  assert.deepEqual([...there.lines, ...away.lines], [])
})

test('any other failure is logged, and has no further effect', async () => {
  const list = () => Promise.reject(new Error('a bug'))
  const { lines, done } = look({ accounts: { list } } as unknown as Store)
  await done
  assert.partialDeepStrictEqual(lines, [
    { level: 'error', msg: 'checking the keys of client secrets and authenticator apps failed' },
  ])
  assert.equal(lines.length, 1)
})
