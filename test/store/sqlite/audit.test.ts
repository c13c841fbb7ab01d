import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { AuditEntry } from '../../../src/store/records.ts'
import { SqliteAudit } from '../../../src/store/sqlite/audit.ts'
import { Database } from '../../../src/store/sqlite/database.ts'
import { migrate } from '../../../src/store/sqlite/migrate.ts'
import { auditEntry, auditQuery } from '../contract-specimens.ts'

/** Opens a log that keeps so many entries of an account. */
async function start(t: TestContext, most?: number) {
  const db = await Database.open(':memory:', { synchronous: 'FULL', patience: 100 })
  t.after(() => db.close())
  await migrate(db)
  const audit = new SqliteAudit(db, most)
  const append = async (times: readonly number[], account = 'a') => {
    for (const at of times) await audit.append(auditEntry({ account, at }))
  }
  const timesOf = async (account: string) =>
    (await audit.list(account, auditQuery({ limit: 1000 }))).items.map(({ at }: AuditEntry) => at)
  return { db, audit, append, timesOf }
}

test('the oldest entries of an account make room, in the order of time', async t => {
  const { append, timesOf } = await start(t, 4)
  await append([1, 2, 3], 'b')
  await append([50, 10, 30, 20, 60, 40])
  assert.deepEqual(await timesOf('a'), [30, 40, 50, 60])
  await append([5])
  assert.deepEqual(await timesOf('a'), [30, 40, 50, 60], 'what is older than all has no room')
  assert.deepEqual(await timesOf('b'), [1, 2, 3])
  await append([4, 5], 'b')
  assert.deepEqual(await timesOf('b'), [2, 3, 4, 5])
})

test('an entry that is there already makes nothing go', async t => {
  const { audit, timesOf } = await start(t, 2)
  const entries = [1, 2].map(at => auditEntry({ account: 'a', at }))
  for (const entry of [...entries, ...entries]) await audit.append(entry)
  assert.deepEqual(await timesOf('a'), [1, 2])
})

test('an account has 100,000 entries at most', async t => {
  const { db, audit, append } = await start(t)
  db.exec(`
    WITH RECURSIVE times (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM times WHERE at < 100000)
    INSERT INTO audit_entries (account, id, at, record)
      SELECT 'a', at, at, json_object('account', 'a', 'id', at, 'at', at) FROM times;
    INSERT INTO audit_books VALUES ('a', 100000)`)
  await append([200_000, 300_000])
  const oldest = await audit.list('a', auditQuery({ limit: 1 }))
  assert.deepEqual([oldest.total, oldest.items[0]?.at], [100_000, 3])
  const newest = await audit.list('a', auditQuery({ limit: 1, descending: true }))
  assert.equal(newest.items[0]?.at, 300_000)
})
