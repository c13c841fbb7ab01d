// Users, who are unique, and members, of whom each account must keep a super administrator.

import { nextTurn } from '../../base/turns/turns.ts'
import { everybody, type Identity, type Member, type User } from '../records/people.ts'
import { LastSuperAdministrator, type Members, type Users, type Versioned } from '../contract/store.ts'
import type { Database, Statement } from './database/database.ts'
import { fromRow, OrderedRows, stretchOf } from './database/ordered-rows.ts'
import type { Ledgers } from './companion-writes.ts'
import { findRecord, SqliteRecords } from './records.ts'

const readStep = 200
const maxOfUser = 1_000

export class SqliteUsers extends SqliteRecords<User> implements Users {
  readonly #byEmail: Statement
  readonly #byIdentity: Statement
  readonly #byId: Statement

  constructor(db: Database, ledgers: Ledgers) {
    super(db, ledgers, { name: 'user' })
    this.#byEmail = db.prepare(`SELECT version, record FROM users WHERE record ->> 'email' = ?`)
    this.#byId = db.prepare('SELECT record FROM users WHERE account = ? AND id = ?')
    this.#byIdentity = db.prepare(
      `SELECT version, record FROM users
       WHERE record ->> '$.identity.issuer' = ? AND record ->> '$.identity.subject' = ?`,
    )
  }

  findByEmail(email: string): Promise<Versioned<User> | null> {
    return this.db.read(() => findRecord<User>(this.#byEmail, email))
  }

  findByIdentity({ issuer, subject }: Identity): Promise<Versioned<User> | null> {
    return this.db.read(() => findRecord<User>(this.#byIdentity, issuer, subject))
  }

  async withIds(ids: readonly string[]): Promise<readonly User[]> {
    const users: User[] = []
    for (let from = 0; from < ids.length; from += readStep) {
      if (from > 0) await nextTurn()
      const some = ids.slice(from, from + readStep)
      const rows = await this.db.read(() => some.map(id => this.#byId.get(everybody, id)))
      for (const row of rows) if (row !== undefined) users.push(fromRow(row))
    }
    return users
  }
}

export class SqliteMembers extends SqliteRecords<Member> implements Members {
  readonly #find: Statement
  readonly #ofUser: OrderedRows

  constructor(db: Database, ledgers: Ledgers) {
    const anySuper = db.prepare(
      `SELECT 1 FROM members WHERE account = ? AND record ->> 'isSuper' = 1 AND record ->> 'status' = 'accepted' LIMIT 1`,
    )
    const hasSuper = (account: string) => anySuper.get(account) !== undefined
    super(db, ledgers, {
      name: 'member',
      guard: (account, write) => {
        const hadSuper = hasSuper(account)
        const isDone = write()
        if (hadSuper && !hasSuper(account)) throw new LastSuperAdministrator()
        return isDone
      },
    })
    this.#find = db.prepare(`SELECT version, record FROM members WHERE record ->> 'user' = ? AND account = ?`)
    this.#ofUser = new OrderedRows(db, 'members', 'created_at', `record ->> 'user'`)
  }

  find(account: string, user: string): Promise<Versioned<Member> | null> {
    return this.db.read(() => findRecord<Member>(this.#find, user, account))
  }

  async ofUser(user: string): Promise<readonly Member[]> {
    const members: Member[] = []
    for await (const rows of this.#ofUser.read(stretchOf(user), maxOfUser))
      members.push(...rows.map(fromRow<Member>))
    return members
  }
}
