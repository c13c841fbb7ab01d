// Authorization events, one row each, numbered by client in the order of arrival, the unproven ones
// separately. Expired ones are removed when others arrive.

import type { Clock } from '../../base/clock.ts'
import {
  type AuthorizationEvent,
  eventJson,
  eventLife,
  maxEvents,
  maxOfUser,
  maxUnproven,
} from '../records/authorization-event.ts'
import type { AuthorizationEvents } from '../contract/store.ts'
import type { Command, Database, Statement } from './database/database.ts'
import { fromRow } from './database/ordered-rows.ts'

/** The maximum number of expired rows that one write removes, so that none takes long. */
const sweepSize = 20

export class SqliteAuthorizationEvents implements AuthorizationEvents {
  readonly #db: Database
  readonly #clock: Clock
  readonly #list: Statement
  readonly #last: Statement
  readonly #insert: Command
  readonly #trim: Command
  readonly #trimUser: Command
  readonly #sweep: Command
  readonly #remove: Command

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#list = db.prepare(
      'SELECT record FROM authorization_events WHERE client IN (?, ?) AND at > ? ORDER BY at DESC, number DESC',
    )
    this.#last = db.prepare('SELECT max(number) AS number FROM authorization_events WHERE client = ?')
    this.#insert = db.command(
      'INSERT INTO authorization_events (client, number, at, record) VALUES (?, ?, ?, ?)',
    )
    this.#trim = db.command('DELETE FROM authorization_events WHERE client = ? AND number <= ?')
    this.#trimUser = db.command(
      `DELETE FROM authorization_events WHERE client = ?1 AND number IN
         (SELECT number FROM authorization_events
          WHERE client = ?1 AND record ->> 'user' = ?2 AND record ->> 'result' = ?3
          ORDER BY number DESC LIMIT -1 OFFSET ${maxOfUser})`,
    )
    this.#sweep = db.command(
      `DELETE FROM authorization_events WHERE (client, number) IN
         (SELECT client, number FROM authorization_events WHERE at <= ? ORDER BY at LIMIT ${sweepSize})`,
    )
    this.#remove = db.command('DELETE FROM authorization_events WHERE client IN (?, ?)')
  }

  async append(event: AuthorizationEvent): Promise<void> {
    const json = eventJson(event)
    const { client, at, user, result, isUnproven } = event
    const part = isUnproven ? unprovenOf(client) : client
    await this.#db.write(() => {
      this.#sweep(this.#oldest)
      const number = Number(this.#last.get(part)?.number ?? 0) + 1
      this.#insert(part, number, at, json)
      this.#trim(part, number - (isUnproven ? maxUnproven : maxEvents))
      if (user !== null) this.#trimUser(part, user, result)
    })
  }

  async list(clientAccount: string, client: string): Promise<readonly AuthorizationEvent[]> {
    const rows = await this.#db.read(() => this.#list.all(client, unprovenOf(client), this.#oldest))
    return rows
      .map(row => fromRow<AuthorizationEvent>(row))
      .filter(event => event.clientAccount === clientAccount)
  }

  async removeOf(client: string): Promise<void> {
    await this.#db.write(() => this.#remove(client, unprovenOf(client)))
  }

  get #oldest(): number {
    return this.#clock.now() - eventLife
  }
}

function unprovenOf(client: string): string {
  return `${client}/unproven`
}
