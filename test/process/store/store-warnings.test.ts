import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '../../../src/log/log.ts'
import { StoreWarnings } from '../../../src/process/store/store-warnings.ts'
import { openStore } from '../../../src/store/open.ts'
import { replicates, startRedis } from '../../help/redis.ts'
import { until } from '../../help/until.ts'

interface Line {
  readonly level: number
  readonly msg: string
  readonly code?: string
  readonly reason?: string
  readonly next?: string
}

test('that writes are refused, that notices are, and what can be lost is logged once when it begins, and when it is over', async t => {
  const primary = await startRedis(t)
  const replica = await startRedis(t, { args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  await primary.ask('CONFIG', 'SET', 'min-replicas-to-write', 1)
  const store = await openStore(primary.url, { commandTimeout: 10_000 })
  t.after(() => store.close())
  await until(() => store.deafness === null)
  const lines: Line[] = []
  const signs = new StoreWarnings(
    store,
    createLogger('info', { write: line => lines.push(JSON.parse(line)) }),
  )
  /** Looks until something was said, and again to see that it is said once. */
  const said = async () => {
    lines.length = 0
    await until(() => signs.look().then(() => lines.length > 0))
    for (let i = 0; i < 5; i++) await signs.look()
    return lines.map(({ level, msg, reason }) => [level, msg, ...(reason ? [reason] : [])].join(': '))
  }
  assert.match((await said()).join('\n'), /^warn: Redis has replicas, but the URL names no Sentinels/)
  await primary.ask('CONFIG', 'SET', 'appendfsync', 'everysec')
  assert.match((await said()).join('\n'), /^warn: Redis syncs its append-only file once a second/)
  await primary.ask('CONFIG', 'SET', 'appendfsync', 'always')
  assert.deepEqual(await said(), ['info: store durability improved'])
  await replica.kill()
  assert.deepEqual(await said(), ['warn: store does not confirm writes: 0 of 1 replica confirms writes'])
  await replica.restart()
  assert.deepEqual(await said(), ['info: store confirms writes again'])
  await primary.ask('ACL', 'SETUSER', 'default', '-subscribe')
  await primary.ask('CLIENT', 'KILL', 'TYPE', 'pubsub')
  await until(() => store.deafness === 'NOPERM')
  const deaf =
    'warn: change notifications unavailable, changes by other processes take up to a second to apply: NOPERM'
  assert.deepEqual(await said(), [deaf])
  await primary.ask('ACL', 'SETUSER', 'default', '+subscribe')
  assert.deepEqual(await said(), ['info: change notifications available again'])
  const words = { message: 'the store is empty', remedy: 'Restore it' }
  lines.length = 0
  store.degradation.set('store_empty', words)
  await signs.look()
  store.degradation.set('store_empty', null)
  assert.deepEqual(
    lines.map(({ level, msg, code, reason, next }) => [level, msg, code, reason, next]),
    [
      ['error', 'store not trusted', 'store_empty', words.message, words.remedy],
      ['info', 'store trusted again', 'store_empty', undefined, undefined],
    ],
  )
})
