import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startRedis } from '../../help/redis.ts'
import { ContractClock } from '../contract-clock.ts'
import { storedResponse, oauthClient } from '../contract-specimens.ts'
import { openRedis } from './open.ts'

const day = 86_400_000

test('a response goes by itself when it expires, by the clock that it was written with', async t => {
  const server = await startRedis(t)
  const clock = new ContractClock()
  const store = await openRedis(t, server.url, 10_000, clock)
  for (const days of [0, 30, -60]) {
    clock.advance(days * day)
    const response = storedResponse({ expiresAt: clock.now() + day })
    await store.oauthClients.insert(oauthClient({ account: response.account }), { response })
    const left = Number(await server.ask('PTTL', `{gatehouse}:answer:${response.account}/${response.key}`))
    assert.ok(left > day - 60_000 && left <= day + 60_000, `${left} ms are left`)
    assert.deepEqual(await store.responses.get(response.account, response.key), response)
  }
})

test('a write without a response leaves none behind', async t => {
  const server = await startRedis(t)
  const store = await openRedis(t, server.url, 10_000)
  await store.oauthClients.insert(oauthClient())
  assert.deepEqual(await server.ask('KEYS', '*answer*'), [])
  assert.deepEqual(await server.ask('KEYS', '*audit*'), [])
})
