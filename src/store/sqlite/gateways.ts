// AI gateways: records that own log entries.

import type { Gateway } from '../records/records.ts'
import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import { pause } from '../../base/turns/turns.ts'
import { ClientMatches, type NamedClient } from '../contract/client-search.ts'
import type { Gateways, Listing, Page, Together } from '../contract/store.ts'
import type { Database, Statement } from './database/database.ts'
import { stretchOf } from './database/ordered-rows.ts'
import type { Ledgers } from './companion-writes.ts'
import { SqliteRecords } from './records.ts'

const searchStep = 1_000

export class SqliteGateways extends SqliteRecords<Gateway> implements Gateways {
  readonly #ids: Statement
  readonly #sweep: (account: string, id: string) => void

  /** `sweep` is called when what a gateway had may be left. */
  constructor(db: Database, ledgers: Ledgers, sweep: (account: string, id: string) => void) {
    super(db, ledgers, { name: 'gateway' })
    this.#ids = db.prepare(
      `SELECT created_at AS at, id, id AS name FROM gateways WHERE account = ? AND (created_at, id) > (?, ?)
       ORDER BY created_at, id LIMIT ${searchStep}`,
    )
    this.#sweep = sweep
  }

  async search(account: string, text: string, page: Page): Promise<Listing<Gateway>> {
    const matches = new ClientMatches({ name: text, visibility: null }, page)
    for (let { from } = stretchOf(account); ; ) {
      const { at, id } = from
      const some = await this.db.read(() => this.#ids.all(account, at, id) as unknown as NamedClient[])
      matches.add(some)
      if (some.length < searchStep) break
      from = some.at(-1)!
      await pause()
    }
    const gateways = await mapInTurns(matches.ids, id => this.get(account, id))
    return { items: gateways.flatMap(one => one?.record ?? []), total: matches.total }
  }

  override async remove(
    account: string,
    id: string,
    together?: Together,
    version?: number,
  ): Promise<boolean> {
    const isRemoved = await super.remove(account, id, together, version)
    if (isRemoved) this.#sweep(account, id)
    return isRemoved
  }
}
