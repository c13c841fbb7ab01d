import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keys, logKeys } from '../../../src/store/redis/server/keys.ts'
import { RemovedGateways } from '../../../src/store/redis/removed-gateways.ts'
import type { Connection } from '../../../src/store/redis/server/connection.ts'
import type { Script } from '../../../src/store/redis/server/script.ts'
import { startRedis } from '../../help/redis.ts'

test('the logs of a removed gateway are cleared again until nothing can be on its way to them', async t => {
  const server = await startRedis(t)
  const connection = {
    run: (command: readonly (string | number)[]) => server.ask(...(command as [string])),
    script: ({ text }: Script, names: readonly string[], args: readonly number[]) =>
      server.ask('EVAL', text, names.length, ...names, ...args),
  } as unknown as Connection
  const graves = new RemovedGateways(connection, connection)
  t.after(() => graves.close())
  const late = async (gateway: string) => {
    for (const key of logKeys('account', gateway, '1').slice(2)) await server.ask('HSET', key, 'id', '{}')
  }
  const now = Date.now() * 1000
  await server.ask('ZADD', keys.graves, now - 61_000_000, 'account/old/1', now - 50_000_000, 'account/new/1')
  for (let i = 0; i < 2; i++) {
    await late('new')
    await late('old')
    await graves.clear()
    const [left, logs] = [
      await server.ask('ZRANGE', keys.graves, 0, -1),
      await server.ask('KEYS', '*account*'),
    ]
    assert.deepEqual(left, ['account/new/1'])
    assert.equal(
      (logs as string[]).length,
      i === 0 ? 0 : 4,
      'nobody looks for those of a grave that is closed',
    )
  }
})
