// AI gateways: records that own log entries.

import type { Gateway } from '../records.ts'
import type { Together } from '../store.ts'
import type { Database } from './database/database.ts'
import type { Ledgers } from './ledgers.ts'
import { SqliteRecords } from './records.ts'

export class SqliteGateways extends SqliteRecords<Gateway> {
  readonly #sweep: () => void

  /** `sweep` is called when entries may have lost their gateway. */
  constructor(db: Database, ledgers: Ledgers, sweep: () => void) {
    super(db, ledgers, { name: 'gateway', table: 'gateways', createdAt: ({ createdAt }) => createdAt })
    this.#sweep = sweep
  }

  override async remove(
    account: string,
    id: string,
    together?: Together,
    version?: number,
  ): Promise<boolean> {
    const isRemoved = await super.remove(account, id, together, version)
    if (isRemoved) this.#sweep()
    return isRemoved
  }
}
