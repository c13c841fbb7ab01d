// Migrates a file to the schema of this version, once when a store is opened, by any number of processes at a
// time.

import type { Database, Row } from './database.ts'
import { applicationId, migrations } from './schema.ts'

/** Runs the missing steps under the write lock; throws a sentence for newer or foreign files. */
export async function migrate(db: Database, steps: readonly string[] = migrations): Promise<void> {
  const schema = await db.read(() => schemaOf(db, steps))
  // Before the first write: without a write-ahead log, a commit fails while another connection reads.
  await db.read(() => db.exec('PRAGMA journal_mode = WAL'))
  if (schema === steps.length) return
  await db.write(() => {
    const done = schemaOf(db, steps)
    for (const step of steps.slice(done)) db.exec(step)
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${steps.length}`)
  })
}

function schemaOf(db: Database, steps: readonly string[]): number {
  const read = (sql: string) => Number(Object.values(db.prepare(sql).get() as Row)[0])
  const schema = read('PRAGMA user_version')
  // In this order: another process that creates the file commits its tables and the mark together, maybe
  // between the two reads.
  if (read('SELECT count(*) FROM sqlite_schema') > 0 && read('PRAGMA application_id') !== applicationId)
    throw new Error('it holds the data of another program')
  if (schema > steps.length)
    throw new Error(
      `it was written by a newer version: its schema is ${schema}, and this version supports up to ${steps.length}. Start the newer version, or use another file`,
    )
  return schema
}
