import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import type { RedisStore } from '../../../src/store/redis/redis-store.ts'
import { type RedisServer, startRedis } from '../../help/redis.ts'
import { ContractClock } from '../contract-clock.ts'
import { gateway, hex, oauthClient, verification } from '../contract-specimens.ts'
import { openRedis } from './open.ts'

const due = '{gatehouse}:due:oauth_clients'
const dueOf = '{gatehouse}:due_of:oauth_clients'
const lease = 60_000

const checkedAt = (nextCheckAt: number | null, more: Partial<OAuthClient> = {}) =>
  oauthClient({ verification: verification({ nextCheckAt }), ...more })

test('a gateway that has the id of a client leaves the time alone at which that is due', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  const client = checkedAt(Date.now() - 1_000)
  const namesake = gateway({ account: client.account, id: client.id })
  await store.oauthClients.insert(client)
  await store.gateways.insert(namesake)
  await store.gateways.remove(namesake.account, namesake.id)
  assert.equal((await store.oauthClients.claimDue(10, lease)).length, 1)
})

test('a claim goes by the clock of the server, however wrong that of the process is', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url)
  const [past, next] = [checkedAt(Date.now() - 1_000), checkedAt(Date.now() + lease)]
  for (const one of [past, next]) await store.oauthClients.insert(one)
  const now = Date.now
  t.mock.method(Date, 'now', () => now() + 10 * lease)
  const claimed = await store.oauthClients.claimDue(10, lease)
  assert.deepEqual(
    claimed.map(({ record }) => record),
    [past],
  )
  const score = Number(await server.ask('ZSCORE', due, `${past.account}/${past.id}`))
  assert.ok(Math.abs(score - now() - lease) < lease / 2, 'the lease ends by it, too')
})

test('whatever is written and claimed, who is due is what the records say', async t => {
  const server = await startRedis(t, { aof: false })
  const clock = new ContractClock()
  const stores = await Promise.all([1, 2].map(() => openRedis(t, server.url, 10_000, clock)))
  const step = fc.record({
    action: fc.constantFrom('insert', 'replace', 'rename', 'remove', 'claim'),
    at: fc.option(fc.integer({ min: -3, max: 3 })),
    which: fc.nat(3),
    store: fc.nat(1),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async steps => {
      const account = hex(16)
      const ids = Array.from({ length: 4 }, () => hex(16))
      for (const { action, at, which, store } of steps) {
        const { oauthClients } = stores[store]!
        const id = ids[which]!
        const read = await oauthClients.get(account, id)
        const nextCheckAt = at === null ? null : 1_000_000 + at
        const next = checkedAt(nextCheckAt, { account, id })
        if (action === 'insert') assert.equal(await oauthClients.insert(next), read === null)
        else if (action === 'remove') assert.equal(await oauthClients.remove(account, id), read !== null)
        else if (action === 'claim') await oauthClients.claimDue(2, lease)
        else if (action === 'replace')
          assert.equal(await oauthClients.replace(next, read?.version ?? 1), read !== null)
        else if (read) await oauthClients.replace({ ...read.record, name: 'Changed' }, read.version)
        await agree(server, stores[store]!, account, ids)
      }
    }),
    { numRuns: 40 },
  )
})

/** Asserts that both keys name those clients that are to be checked, and when. */
async function agree(server: RedisServer, store: RedisStore, account: string, ids: readonly string[]) {
  const expected: Record<string, string> = {}
  for (const id of ids) {
    const at = (await store.oauthClients.get(account, id))?.record.verification?.nextCheckAt ?? null
    if (at !== null) expected[`${account}/${id}`] = String(at)
  }
  const isOurs = (field: string) => field.startsWith(account)
  const planned = ((await server.ask('ZRANGE', due, 0, -1)) as string[]).filter(isOurs)
  assert.deepEqual(planned.toSorted(), Object.keys(expected).toSorted())
  const told = (await server.ask('HGETALL', dueOf)) as string[]
  const pairs = Array.from({ length: told.length / 2 }, (_, i) => [told[2 * i]!, told[2 * i + 1]!] as const)
  assert.deepEqual(Object.fromEntries(pairs.filter(([field]) => isOurs(field))), expected)
}
