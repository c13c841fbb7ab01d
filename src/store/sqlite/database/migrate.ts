// Brings a file to the schema that this version knows, once when a store is opened, by any number of processes at a time.

import type { Database, Row } from './database.ts'
import { applicationId, migrations } from './schema.ts'

/** Runs the steps that the file lacks, under its write lock; throws a sentence for a file that is newer, or not ours. */
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

/** Returns how many steps the file has seen. */
function schemaOf(db: Database, steps: readonly string[]): number {
  const read = (sql: string) => Number(Object.values(db.prepare(sql).get() as Row)[0])
  const schema = read('PRAGMA user_version')
  // In this order: another process that makes the file commits its tables and the mark together, maybe between the two.
  if (read('SELECT count(*) FROM sqlite_schema') > 0 && read('PRAGMA application_id') !== applicationId)
    throw new Error('it holds the data of another program')
  if (schema > steps.length)
    throw new Error(
      `it was written by a newer version: its schema is ${schema}, and this version supports up to ${steps.length}. Start the newer version, or use another file`,
    )
  return schema
}
