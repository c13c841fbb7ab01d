import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Position } from '../../../src/store/contract/store.ts'
import { startRedis } from '../../help/redis.ts'
import { auditEntry, hex } from '../contract-specimens.ts'
import { openRedis } from './open.ts'

test('any page is what a plain list would give', async t => {
  const server = await startRedis(t, { aof: false })
  const store = await openRedis(t, server.url, 10_000)
  const time = fc.integer({ min: 1, max: 12 })
  const query = fc.record({
    since: fc.option(time),
    before: fc.option(time),
    descending: fc.boolean(),
    offset: fc.nat(12),
    limit: fc.nat(12),
    after: fc.option(fc.record({ at: time, id: fc.constantFrom('0', '8', 'g') })),
  })
  const trial = fc.asyncProperty(
    fc.array(time, { maxLength: 15 }),
    fc.array(query),
    async (times, queries) => {
      const account = hex(16)
      const entries = times.map(at => auditEntry({ account, at }))
      for (const entry of entries) await store.audit.append(entry)
      const sorted = entries.toSorted(byTime)
      for (const { since, before, descending, offset, limit, after } of queries) {
        const within = sorted.filter(
          ({ at }) => at >= (since ?? 0) && at < (before ?? Number.POSITIVE_INFINITY),
        )
        const ordered = descending ? within.toReversed() : within
        const behind = ordered.filter(
          entry => after === null || (descending ? byTime(after, entry) > 0 : byTime(after, entry) < 0),
        )
        const items = behind.slice(offset, offset + limit)
        const found = await store.audit.list(account, { since, before, descending, offset, limit, after })
        assert.deepEqual(found, { items, total: within.length })
      }
    },
  )
  await fc.assert(trial, { numRuns: 60 })
})

function byTime(a: Position, b: Position): number {
  return a.at - b.at || (a.id < b.id ? -1 : 1)
}
