// What counts in Redis survive: those of short windows no restart, and nobody waits for the disk for them; those of long ones as much as records do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CounterAsk } from '../../../../src/store/contract/store.ts'
import { startRedis } from '../../../help/redis.ts'
import { until } from '../../../help/until.ts'
import { openRedis } from '../open.ts'

const sliding = { kind: 'sliding', period: 60_000 } as const
const month = { kind: 'fixed', until: Date.now() + 20 * 86_400_000 } as const
/** Ms after which what is kept for a moment is over: longer than a busy machine takes to look whether it is there. */
const soon = 1_500

test('short windows are not written to the disk, and long ones are', async t => {
  const server = await startRedis(t, { aof: 'always' })
  const { counters } = await openRedis(t, server.url)
  const spend = (window: CounterAsk['window'], wanted = 1) =>
    counters.spend({ key: 'key', window, limit: 5, done: 0, wanted })
  for (const window of [sliding, month]) assert.equal((await spend(window)).count, 1)
  await server.restart()
  await until(() => !counters.isUnreachable)
  assert.equal((await spend(sliding, 0)).count, 0)
  assert.equal((await spend(month, 0)).count, 1)
})

test('a key goes when its window is over', async t => {
  const server = await startRedis(t, { aof: false })
  const { counters } = await openRedis(t, server.url)
  await counters.spend({ key: 'a', window: { kind: 'sliding', period: soon }, limit: 5, done: 0, wanted: 1 })
  await counters.spend({
    key: 'b',
    window: { kind: 'fixed', until: Date.now() + soon },
    limit: 5,
    done: 0,
    wanted: 1,
  })
  const kept = async () =>
    ((await server.ask('KEYS', '*')) as string[]).filter(key => !/:(format|proof)$/.test(key))
  assert.equal((await kept()).length, 2)
  await until(async () => (await kept()).length === 0)
})
