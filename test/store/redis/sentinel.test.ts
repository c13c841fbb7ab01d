import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreAway } from '../../../src/store/store.ts'
import { startSentinel, until } from '../../help/redis.ts'
import { token } from '../contract-specimens.ts'
import { openRedis } from './open.ts'

test('with Sentinels the replica takes over, and has all that was acknowledged', async t => {
  const { primary, url } = await startSentinel(t)
  const store = await openRedis(t, url)
  assert.equal(store.isAway, false)
  assert.deepEqual(await store.durability(), [])
  const kept = Array.from({ length: 50 }, () => token())
  await Promise.all(kept.map(one => store.tokens.insert(one)))
  const { knownUntil } = store.changes
  await primary.kill()
  await assert.rejects(store.accounts.list(), StoreAway)
  await until(() => !store.isAway && store.changes.knownUntil > knownUntil)
  for (const one of kept) assert.deepEqual(await store.tokens.findByDigest(one.digest), one)
  assert.equal(await store.tokens.insert(token()), true)
})
