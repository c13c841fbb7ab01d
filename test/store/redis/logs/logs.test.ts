import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { entriesOf } from '../../../../src/store/log-batch/batch.ts'
import { batchOf } from '../../../../src/store/log-batch/batch.ts'
import { startRedis } from '../../../help/redis.ts'
import { until } from '../../../help/until.ts'
import { gateway, hex, logEntries, logQuery } from '../../contract-specimens.ts'
import { openRedis } from '../open.ts'

async function start(t: TestContext) {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url, 10_000)
  const kept = gateway()
  await store.gateways.insert(kept)
  const append = (entries: ReturnType<typeof logEntries>, most = 100_000) =>
    store.logs.append(kept.account, kept.id, batchOf(entries), {
      maxEntries: most,
      strategy: 'DELETE_OLDEST',
    })
  const keys = async () => (await server.ask('KEYS', `*${kept.account}/*`)) as string[]
  return { server, store, logs: store.logs, kept, append, keys }
}

test('an entry that is appended again, since nobody knew that it was kept, is there once', async t => {
  const { logs, kept, append } = await start(t)
  const entries = logEntries(kept, 5)
  assert.equal(await append(entries), 5)
  assert.equal(await append(entries.slice(2)), 3)
  assert.equal(await logs.count(kept.account, kept.id), 5)
})

test('dropped entries leave nothing behind, including their bodies', async t => {
  const { server, kept, append, keys } = await start(t)
  const entries = logEntries(kept, 6)
  for (let i = 0; i < 6; i += 2) await append(entries.slice(i, i + 2), 2)
  for (const key of await keys()) {
    const type = await server.ask('TYPE', key)
    const count = await server.ask(type === 'hash' ? 'HLEN' : 'ZCARD', key)
    assert.ok(Number(count) <= 2, `${count} in ${key}`)
  }
})

test('entries with large bodies are kept, whatever their sum', async t => {
  const { logs, kept, append } = await start(t)
  const body = { text: 'x'.repeat(64 * 1024), isCut: true }
  const entries = logEntries(kept, 100, () => ({ request: body, response: body }))
  assert.equal(await append(entries), 100)
  assert.deepEqual(await logs.get(kept.account, kept.id, entries[99]!.id), entries[99])
  const batches = await Array.fromAsync(logs.entries(kept.account, kept.id))
  assert.ok(batches.length > 5, 'a batch ends when it is large')
  assert.deepEqual(batches.flat(), entries)
})

test('a list that is read while entries go and come shows each once, and all that stayed', async t => {
  const { logs, kept, append } = await start(t)
  const entries = logEntries(kept, 3_000, i => ({ status: i % 2 ? 200 : 500 }))
  await append(entries)
  for (const descending of [false, true]) {
    const filters = [{ field: 'provider', operator: 'eq', values: ['openai'] }] as const
    const listing = logs.list(kept.account, kept.id, logQuery({ filters, limit: 10_000, descending }))
    const gone = logs.remove(kept.account, kept.id, logQuery({ limit: 300 }))
    const come = append(logEntries(kept, 200, i => ({ createdAt: (descending ? 2e12 : 0) + i })))
    const [{ items }] = await Promise.all([listing, gone, come])
    const ids = items.map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length)
    const { items: left } = await logs.list(kept.account, kept.id, logQuery({ limit: 10_000 }))
    const stayed = left.filter(({ id }) => entries.some(entry => entry.id === id))
    assert.deepEqual(
      stayed.filter(({ id }) => !ids.includes(id)),
      [],
    )
  }
})

test('an entry that is older than the tokens in entries is read, and can be moved', async t => {
  const { server, logs, kept, append, keys } = await start(t)
  const [entry] = logEntries(kept, 1, () => ({ tokenId: null, tokenName: null }))
  await append([entry!])
  const { request, response, providerResponse: _, tokenId: __, tokenName: ___, ...older } = entry!
  const keyOf = async (part: string) => (await keys()).find(key => key.endsWith(`:${part}`))!
  await server.ask('HSET', await keyOf('summaries'), older.id, JSON.stringify(older))
  await server.ask('HSET', await keyOf('payloads'), older.id, JSON.stringify({ request, response }))
  const read = (await Array.fromAsync(logs.entries(kept.account, kept.id))).flat()
  assert.deepEqual(read, [entry])
  assert.deepEqual(entriesOf(batchOf(read), kept.account, kept.id), [entry])
  const { items } = await logs.list(kept.account, kept.id, logQuery())
  assert.deepEqual([items[0]!.tokenId, items[0]!.tokenName], [null, null])
})

test('a limit that was lowered by far is reached in steps', async t => {
  const { logs, kept, append } = await start(t)
  const count = () => logs.count(kept.account, kept.id)
  for (let i = 0; i < 11; i++)
    await append(logEntries(kept, 1_000, () => ({ request: null, response: null })))
  await append(logEntries(kept, 1), 10)
  assert.equal(await count(), 1_000)
  await append(logEntries(kept, 1), 10)
  assert.equal(await count(), 10)
})

test('the logs of a removed gateway leave nothing behind', async t => {
  const { store, kept, append, keys } = await start(t)
  await append(logEntries(kept, 20))
  assert.equal((await keys()).length, 4)
  await store.gateways.remove(kept.account, kept.id)
  await until(async () => (await keys()).length === 0)
})

test('what came to a removed gateway after all is cleared by who opens the store next', async t => {
  const { server, kept, keys } = await start(t)
  const old = `${kept.account}/gone/12`
  await server.ask('ZADD', '{gatehouse}:graves', 12, old)
  await server.ask('HSET', `{gatehouse:${old}}:summaries`, hex(8), '{}')
  await openRedis(t, server.url)
  await until(async () => (await server.ask('ZCARD', '{gatehouse}:graves')) === 0)
  assert.deepEqual(await keys(), [])
})
