// What is special about budgets in a file: rows go when they are over, and a damaged file is never taken for an empty one.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { Database } from '../../../src/store/sqlite/database/database.ts'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { ManualClock } from '../../help/clock.ts'
import { hex } from '../contract-specimens.ts'
import { temporaryFile } from './temporary-file.ts'

const line = { limit: 9, share: 'p.0', total: 1, confirmed: 0, keep: 0, ifLost: 0, need: 0, want: 0 }
const account = hex(16)
const step = (bucket: string, until: number) => ({
  ...{ account, sequence: 1, lease: 15_000 },
  lines: [{ ...line, bucket, window: { kind: 'fixed', until } as const }],
})

test('rows of buckets that are over make room', async t => {
  const clock = new ManualClock()
  const file = temporaryFile(t)
  const store = await SqliteStore.open(file, { commandTimeout: 250, clock })
  t.after(() => store.close())
  const { budgets } = store
  const far = clock.now() + 100_000_000
  for (let i = 0; i < 120; i++) await budgets.step(step(`b${i}`, i % 2 ? far : clock.now() + 1_000))
  clock.advance(1_000_000)
  for (let i = 0; i < 3; i++) await budgets.step(step('another', far))
  const db = await Database.open(`${file}-credentials`, { synchronous: 'NORMAL', timeout: 100 })
  t.after(() => db.close())
  assert.equal(db.prepare('SELECT count(*) AS count FROM budgets').get()!.count, 61)
})

test('budgets in a damaged file do not start over: the store does not open', async t => {
  const file = temporaryFile(t)
  const store = await SqliteStore.open(file, { commandTimeout: 250 })
  await store.budgets.step(step('b', 4_000_000_000_000))
  await store.close()
  writeFileSync(`${file}-credentials`, 'x'.repeat(8_192))
  await assert.rejects(SqliteStore.open(file, { commandTimeout: 250 }), /file is not a database/)
})

test('a step writes nothing while the store is not trusted', async t => {
  const file = temporaryFile(t)
  const [store, other] = [
    await SqliteStore.open(file, { commandTimeout: 250 }),
    await SqliteStore.open(file, { commandTimeout: 250 }),
  ]
  t.after(() => store.close())
  t.after(() => other.close())
  store.trust.expect({ ...(await store.adopt()), identity: 'another' })
  const first = step('b', 4_000_000_000_000)
  await assert.rejects(store.budgets.step(first), { name: 'StoreDegraded' })
  await assert.rejects(store.budgets.read(account, first.lines), { name: 'StoreDegraded' })
  assert.equal((await other.budgets.read(account, first.lines))[0]!.spent, 0)
})
