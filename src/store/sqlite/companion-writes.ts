// Companions of records, written in the same transactions: their changes, audit entries and stored responses.

import type { Together } from '../contract/store.ts'
import type { SqliteResponses } from './stored-responses.ts'
import type { SqliteAudit } from './audit.ts'
import type { SqliteChanges } from './changes.ts'
import type { Database } from './database/database.ts'

export interface Ledgers {
  readonly changes: SqliteChanges
  readonly responses: SqliteResponses
  readonly audit: SqliteAudit
}

/**
 * Runs work in a transaction, together with the companion writes. Nothing is written if the key of the
 * response is taken, or the work returns false.
 */
export async function writeTogether(
  db: Database,
  { changes, responses, audit: log }: Ledgers,
  work: () => boolean,
  { audit, response }: Together = {},
): Promise<boolean> {
  const isDone = await db.write(() => {
    responses.sweepWithin()
    if (response && responses.hasWithin(response)) return false
    if (!work()) return false
    if (response) responses.insertWithin(response)
    if (audit) log.appendWithin(audit)
    return true
  })
  if (isDone) await changes.tell()
  return isDone
}
