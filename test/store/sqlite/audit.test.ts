import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SqliteAudit } from '../../../src/store/sqlite/audit.ts'
import { Database } from '../../../src/store/sqlite/database/database.ts'
import { migrate } from '../../../src/store/sqlite/database/migrate.ts'
import { migrations } from '../../../src/store/sqlite/database/schema.ts'
import { auditEntry, auditQuery } from '../contract-specimens.ts'

test('entries of a file that knew no actors are found, counted and trimmed by them', async t => {
  const db = await Database.open(':memory:', { synchronous: 'FULL', patience: 100 })
  t.after(() => db.close())
  await migrate(db, migrations.slice(0, 3))
  const [busy, quiet] = ['busy', 'quiet'].map(actor =>
    [1, 2, 3].map(at => auditEntry({ account: 'a', actor, at })),
  ) as [ReturnType<typeof auditEntry>[], ReturnType<typeof auditEntry>[]]
  const insert = db.command('INSERT INTO audit_entries (account, id, at, record) VALUES (?, ?, ?, ?)')
  for (const entry of [...busy, ...quiet]) insert('a', entry.id, entry.at, JSON.stringify(entry))
  db.exec(`INSERT INTO audit_books VALUES ('a', 6)`)
  await migrate(db)
  const audit = new SqliteAudit(db)
  const mostOf = (actor: string) => (actor === 'busy' ? 1 : 3)
  await audit.trim('a', { before: 0, mostOf }, () => null)
  const { items, total } = await audit.list('a', auditQuery())
  assert.equal(total, 4)
  assert.deepEqual(new Set(items), new Set([busy[2], ...quiet]))
})
