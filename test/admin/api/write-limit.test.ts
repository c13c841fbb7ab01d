// How many changes a token may ask for, and what of that is told.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { WriteLimit } from '../../../src/admin/api/write-limit.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { Limiter } from '../../../src/limits/limiter.ts'
import { openStore } from '../../../src/store/open.ts'
import { startRedis } from '../../help/redis.ts'
import { temporaryFile } from '../../store/sqlite/temporary-file.ts'
import { startApi } from '../api.ts'
import { described, faultsOf } from '../openapi/openapi-document.ts'

const most = 100

test('a token that has requested its 100 changes in 5 minutes must wait, other tokens and reads need not', async t => {
  const { ask, keepToken, clock, lines, refused, limitWrites } = await startApi(t)
  limitWrites(most)
  const { value, token } = await keepToken(['AI Gateway Edit', 'AI Gateway Read'])
  const change = () => ask('PUT', '/ai-gateway/gateways/none', { token: value, body: {} })
  for (let i = 0; i < most; i++) assert.notEqual((await change()).status, 429, String(i))
  const { status, headers, json } = await change()
  assert.deepEqual([status, json.errors[0].code], [429, 10429])
  const wait = Number(headers.get('retry-after'))
  assert.ok(wait > 0 && wait <= 305, String(wait))
  const { responses } = described.find(({ id }) => id === 'updateGateway')!
  assert.equal(faultsOf(responses['429']!.content['application/json']!.schema, json), '')
  assert.equal((await ask('GET', '/ai-gateway/gateways', { token: value })).status, 200)
  const other = await keepToken(['AI Gateway Edit'])
  assert.equal(
    (await ask('DELETE', '/ai-gateway/gateways/none', { token: other.value, body: {} })).status,
    404,
  )
  assert.equal(refused.too_many.value, 1)
  const told = lines.filter(({ reason }) => reason === 'too_many')
  assert.partialDeepStrictEqual(told, [
    {
      msg: 'management request refused',
      method: 'PUT',
      path: '/client/v4/accounts/{account_id}/ai-gateway/gateways/{gateway_id}',
      actor: token.id,
      account: token.account,
    },
  ])
  clock.advance(wait * 1000)
  assert.notEqual((await change()).status, 429)
})

test('changes that a token may not make count as well', async t => {
  const { ask, keepToken, limitWrites } = await startApi(t)
  limitWrites(most)
  const { value } = await keepToken(['AI Gateway Run'])
  const statuses = new Set<number>()
  for (let i = 0; i < most; i++)
    statuses.add((await ask('DELETE', '/ai-gateway/gateways/none', { token: value })).status)
  assert.deepEqual([...statuses], [403])
  assert.equal((await ask('DELETE', '/ai-gateway/gateways/none', { token: value })).status, 429)
})

async function spendOverTwo(t: TestContext, url: string, limit: number) {
  const stores = await Promise.all([1, 2].map(() => openStore(url, { commandTimeout: 10_000 })))
  const limiters = stores.map(({ counters }) => new Limiter({ clock: systemClock, counters }))
  t.after(async () => {
    for (const limiter of limiters) await limiter.close()
    for (const store of stores) await store.close()
  })
  const limits = limiters.map(limiter => new WriteLimit(limiter, { limit, period: 300_000 }))
  const token = { account: 'a', id: 't' }
  let granted = 0
  for (let i = 0; i < 2 * limit; i++) if ((await limits[i % 2]!.spend(token)) === null) granted++
  return granted
}

test('all processes that share a file count together', async t => {
  const granted = await spendOverTwo(t, `sqlite:${temporaryFile(t)}`, 200)
  assert.ok(granted <= 204 && granted >= 196, String(granted))
})

test('all processes that share a Redis count together', async t => {
  const { url } = await startRedis(t, { aof: false })
  const granted = await spendOverTwo(t, url, 200)
  assert.ok(granted <= 204 && granted >= 196, String(granted))
})

test('while the store is unreachable this process counts locally', async t => {
  const server = await startRedis(t, { aof: false })
  const store = await openStore(server.url, { commandTimeout: 500 })
  const limiter = new Limiter({ clock: systemClock, counters: store.counters })
  t.after(async () => {
    await limiter.close()
    await store.close()
  })
  const writes = new WriteLimit(limiter, { limit: 20, period: 300_000 })
  await server.kill()
  const token = { account: 'a', id: 't' }
  const waits: (number | null)[] = []
  for (let i = 0; i < 21; i++) waits.push(await writes.spend(token))
  assert.deepEqual(waits.slice(0, 20), Array(20).fill(null))
  assert.ok(waits[20]! > 0 && waits[20]! <= 305)
})
