import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreAway } from '../../../src/store/store.ts'
import { startSentinel } from '../../help/redis.ts'
import { until } from '../../help/until.ts'
import { ContractClock } from '../contract-clock.ts'
import { token } from '../contract-specimens.ts'
import { expectDue, keepDue } from './due.ts'
import { commandTimeout, openRedis } from './open.ts'

test('with Sentinels the replica takes over, and has all that was acknowledged', async t => {
  const { primary, url } = await startSentinel(t)
  const clock = new ContractClock()
  const store = await openRedis(t, url, commandTimeout, clock)
  assert.equal(store.isAway, false)
  assert.match(
    (await store.durability()).join('\n'),
    /^A primary that is cut off .* Set min-replicas-to-write 1\.$/,
  )
  await primary.ask('CONFIG', 'SET', 'min-replicas-to-write', 1)
  assert.deepEqual(await store.durability(), [])
  const kept = Array.from({ length: 50 }, () => token())
  await Promise.all(kept.map(one => store.tokens.insert(one)))
  const due = await keepDue(store)
  const { knownUntil } = store.changes
  await primary.kill()
  await assert.rejects(store.accounts.list(), StoreAway)
  await until(() => !store.isAway && store.changes.knownUntil > knownUntil)
  for (const one of kept) assert.deepEqual(await store.tokens.findByDigest(one.digest), one)
  await expectDue(store, clock, due)
  await assert.rejects(store.tokens.insert(token()), StoreAway)
  assert.equal(store.refusal, '0 of 1 replica confirms writes')
})
