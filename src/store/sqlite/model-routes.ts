// The model routes of gateways. Triggers tie them to their gateway.

import type { ModelRoute } from '../records/model-route.ts'
import type { ModelRoutes, Versioned } from '../contract/store.ts'
import type { Ledgers } from './companion-writes.ts'
import type { Database, Statement } from './database/database.ts'
import { findRecord, SqliteRecords } from './records.ts'

export class SqliteModelRoutes extends SqliteRecords<ModelRoute> implements ModelRoutes {
  readonly #byName: Statement

  constructor(db: Database, ledgers: Ledgers) {
    super(db, ledgers, { name: 'model_route' })
    this.#byName = db.prepare(
      `SELECT version, record FROM model_routes WHERE account = ? AND record ->> 'name' = ?`,
    )
  }

  find(owner: string, name: string): Promise<Versioned<ModelRoute> | null> {
    return this.db.read(() => findRecord<ModelRoute>(this.#byName, owner, name))
  }
}
