import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AuditEntry } from '../../../src/store/records.ts'
import { type RedisServer, startRedis } from '../../help/redis.ts'
import { auditEntry, auditQuery, hex, oauthClient } from '../contract-specimens.ts'
import { openRedis } from './open.ts'

const most = 100_000

/** Fills the audit entries of an account, a ms after each other from 1 on, faster than a store would. */
async function fill(server: RedisServer, account: string, count: number): Promise<void> {
  const text = `
    for at = 1, ARGV[1] do
      local id = string.format('%032d', at)
      redis.call('ZADD', KEYS[1], at, id)
      redis.call('HSET', KEYS[2], id, '{"id":"' .. id .. '","at":' .. at .. '}')
    end`
  const homes = ['times', 'entries'].map(part => `{gatehouse}:audit_${part}:${account}`)
  await server.ask('EVAL', text, 2, ...homes, count)
}

test('of more entries than are kept the oldest make room, one for each write', async t => {
  const server = await startRedis(t, { aof: false })
  const store = await openRedis(t, server.url, 2_000)
  const account = hex(16)
  await fill(server, account, most - 1)
  const oldest = async () => (await store.audit.list(account, auditQuery({ limit: 1 }))).items[0]?.at
  for (const first of [1, 2, 3]) {
    await store.audit.append(auditEntry({ account }))
    assert.equal(await oldest(), first)
  }
  const audit = auditEntry({ account })
  await store.oauthClients.insert(oauthClient({ account }), { audit })
  assert.equal(await oldest(), 4)
  const { total } = await store.audit.list(account, auditQuery({ limit: 0 }))
  assert.equal(total, most)
  assert.equal(await server.ask('HLEN', `{gatehouse}:audit_entries:${account}`), most)
})

test('far too many entries are removed in steps', async t => {
  const server = await startRedis(t, { aof: false })
  const store = await openRedis(t, server.url, 2_000)
  const account = hex(16)
  await fill(server, account, most + 150)
  for (const left of [most + 51, most, most]) {
    await store.audit.append(auditEntry({ account }))
    assert.equal((await store.audit.list(account, auditQuery({ limit: 0 }))).total, left)
    assert.equal(await server.ask('HLEN', `{gatehouse}:audit_entries:${account}`), left)
  }
})

test('any page is what a plain list would give', async t => {
  const server = await startRedis(t, { aof: false })
  const store = await openRedis(t, server.url, 2_000)
  const time = fc.integer({ min: 1, max: 12 })
  const query = fc.record({
    since: fc.option(time),
    before: fc.option(time),
    descending: fc.boolean(),
    offset: fc.nat(12),
    limit: fc.nat(12),
  })
  const trial = fc.asyncProperty(
    fc.array(time, { maxLength: 15 }),
    fc.array(query),
    async (times, queries) => {
      const account = hex(16)
      const entries = times.map(at => auditEntry({ account, at }))
      for (const entry of entries) await store.audit.append(entry)
      const sorted = entries.toSorted(byTime)
      for (const { since, before, descending, offset, limit } of queries) {
        const within = sorted.filter(
          ({ at }) => at >= (since ?? 0) && at < (before ?? Number.POSITIVE_INFINITY),
        )
        const items = (descending ? within.toReversed() : within).slice(offset, offset + limit)
        const found = await store.audit.list(account, { since, before, descending, offset, limit })
        assert.deepEqual(found, { items, total: within.length })
      }
    },
  )
  await fc.assert(trial, { numRuns: 60 })
})

function byTime(a: AuditEntry, b: AuditEntry): number {
  return a.at - b.at || (a.id < b.id ? -1 : 1)
}
