// What is written with records, in their transactions: that they changed, who changed them, and what was answered.

import type { Together } from '../store.ts'
import type { SqliteAnswers } from './answers.ts'
import type { SqliteAudit } from './audit.ts'
import type { SqliteChanges } from './changes.ts'
import type { Database } from './database/database.ts'

export interface Ledgers {
  readonly changes: SqliteChanges
  readonly answers: SqliteAnswers
  readonly audit: SqliteAudit
}

/** Runs work in a transaction, and writes there what goes with it: nothing of both when the key of the answer is taken, or the work gives false. */
export async function writeTogether(
  db: Database,
  { changes, answers, audit: log }: Ledgers,
  work: () => boolean,
  { audit, answer }: Together = {},
): Promise<boolean> {
  const isDone = await db.write(() => {
    answers.sweepWithin()
    if (answer && answers.hasWithin(answer)) return false
    if (!work()) return false
    if (answer) answers.insertWithin(answer)
    if (audit) log.appendWithin(audit)
    return true
  })
  if (isDone) await changes.tell()
  return isDone
}
