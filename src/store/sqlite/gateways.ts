// AI gateways: records that own log entries.
import type { Gateway } from '../records.ts'
import type { SqliteChanges } from './changes.ts'
import type { Database } from './database.ts'
import { SqliteRecords } from './records.ts'

export class SqliteGateways extends SqliteRecords<Gateway> {
  readonly #sweep: () => void

  /** `sweep` is called when entries may have lost their gateway. */
  constructor(db: Database, changes: SqliteChanges, sweep: () => void) {
    super(db, changes, { name: 'gateway', table: 'gateways', createdAt: ({ createdAt }) => createdAt })
    this.#sweep = sweep
  }

  override async remove(account: string, id: string): Promise<boolean> {
    const isRemoved = await super.remove(account, id)
    if (isRemoved) this.#sweep()
    return isRemoved
  }
}
