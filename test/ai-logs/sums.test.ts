import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type Dimension, dimensions, maxGroups, sumByGroup } from '../../src/ai-logs/sums.ts'
import { batchOf } from '../../src/store/log-batch/batch.ts'
import { openStore } from '../../src/store/open.ts'
import type { LogEntry } from '../../src/store/records/records.ts'
import { gateway, logEntry } from '../store/contract-specimens.ts'

const entry = fc.record({
  tokenId: fc.constantFrom(null, 'a', 'b'),
  model: fc.constantFrom(null, 'x', 'null', 'y,"z'),
  provider: fc.constantFrom('openai', 'groq'),
  createdAt: fc.nat(3 * 86_400_000),
  tokensIn: fc.option(fc.nat(100)),
  tokensOut: fc.option(fc.nat(100)),
  cost: fc.option(fc.nat(100)),
})

async function start(t: TestContext) {
  const store = await openStore('sqlite::memory:', { commandTimeout: 5_000 })
  t.after(() => store.close())
  return async (members: readonly Partial<LogEntry>[], groupBy: readonly Dimension[]) => {
    const { account, id, ...rest } = gateway()
    await store.gateways.insert({ account, id, ...rest })
    const entries = members.map(more => logEntry({ account, gateway: id, ...more }))
    await store.logs.append(account, id, batchOf(entries), { maxEntries: 1e9, strategy: 'STOP_INSERTING' })
    return sumByGroup(store.logs, [account, id], [], groupBy)
  }
}

test('whatever they are grouped by, each group has what its entries have in common', async t => {
  const sum = await start(t)
  const dimensionsOf = {
    token: (e: Partial<LogEntry>) => e.tokenId,
    model: (e: Partial<LogEntry>) => e.model,
    provider: (e: Partial<LogEntry>) => e.provider,
    day: (e: Partial<LogEntry>) => Math.floor(e.createdAt! / 86_400_000) * 86_400_000,
  }
  await fc.assert(
    fc.asyncProperty(fc.array(entry), fc.subarray([...dimensions]), async (entries, groupBy) => {
      const groups = (await sum(entries, groupBy))!
      const nameOf = (e: Partial<LogEntry>) => JSON.stringify(groupBy.map(name => dimensionsOf[name](e)))
      const wanted = Map.groupBy(entries, nameOf)
      assert.equal(groups.length, wanted.size)
      for (const { kind, day, sum } of groups) {
        const alike = wanted.get(nameOf({ ...kind, createdAt: day ?? 0 }))!
        const total = (of: (e: (typeof entries)[number]) => number | null) =>
          alike.reduce((sum, e) => sum + (of(e) ?? 0), 0)
        assert.deepEqual(
          [sum.count, sum.tokensIn, sum.tokensOut, sum.cost, sum.withoutCost],
          [
            alike.length,
            total(e => e.tokensIn),
            total(e => e.tokensOut),
            total(e => e.cost),
            total(e => Number(e.cost === null)),
          ],
        )
      }
    }),
  )
})

test('more groups than allowed are none', async t => {
  const sum = await start(t)
  const models = Array.from({ length: maxGroups + 1 }, (_, i) => ({ model: `m${i}` }))
  assert.equal((await sum(models.slice(1), ['model']))!.length, maxGroups)
  assert.equal(await sum(models, ['model']), null)
  const days = models.map((more, i) => ({ ...more, createdAt: (i % 2) * 86_400_000 }))
  assert.equal(await sum(days, ['model', 'day']), null)
})
