import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerKeeper } from '../../../src/admin/upkeep/answer-keeper.ts'
import { createLogger } from '../../../src/log/log.ts'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { until } from '../../help/until.ts'
import { account, gateway } from '../../store/contract-specimens.ts'
import { boundsWithin } from '../../store/answer-bounds.ts'
import { ContractClock } from '../../store/contract-clock.ts'

test('expired responses are removed now and then, and all beyond the bound', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = new ContractClock()
  const store = await SqliteStore.open(':memory:', { commandTimeout: 2_000, clock })
  t.after(() => store.close())
  const owner = account()
  await store.accounts.insert(owner)
  await store.gateways.insert(gateway({ account: owner.id }))
  const bounds = boundsWithin({ bytes: 9_999, entries: 99 }, 999)
  const write = (key: string, lifetime: number) =>
    store.answers.write(
      { account: owner.id, gateway: 'default', key },
      Buffer.alloc(100),
      clock.now() + lifetime,
      bounds,
    )
  for (const [key, lifetime] of [
    ['a', 1_000],
    ['b', 3_600_000],
    ['c', 3_600_000],
  ] as const)
    await write(key, lifetime)
  const log = createLogger('error', { write: () => assert.fail('nothing fails') })
  const keeper = new AnswerKeeper({ store, log, maxBytes: () => 250 })
  keeper.start()
  await until(async () => (await store.answers.total()).entries === 2)
  await keeper.close()
  const again = new AnswerKeeper({ store, log, maxBytes: () => 250 })
  t.after(() => again.close())
  again.start()
  await new Promise(setImmediate)
  clock.advance(3_600_000)
  await until(async () => {
    t.mock.timers.tick(600_000)
    return (await store.answers.total()).entries === 0
  })
})
