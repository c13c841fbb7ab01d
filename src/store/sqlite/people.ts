// Users and members: records of which no two are the same person, and of which one per account must stay.

import type { Identity, Member, User } from '../people.ts'
import { LastSuperAdministrator, type Members, type Users, type Versioned } from '../store.ts'
import type { Database, Statement } from './database/database.ts'
import { fromRow } from './database/ordered-rows.ts'
import type { Ledgers } from './ledgers.ts'
import { foundIn, SqliteRecords } from './records.ts'

/** The most memberships of one user that are listed. */
const mostOfUser = 1_000

const createdAt = (record: { readonly createdAt: number }): number => record.createdAt

export class SqliteUsers extends SqliteRecords<User> implements Users {
  readonly #db: Database
  readonly #byEmail: Statement
  readonly #byIdentity: Statement

  constructor(db: Database, ledgers: Ledgers) {
    super(db, ledgers, { name: 'user', table: 'users', createdAt })
    this.#db = db
    this.#byEmail = db.prepare(`SELECT version, record FROM users WHERE record ->> 'email' = ?`)
    this.#byIdentity = db.prepare(
      `SELECT version, record FROM users
       WHERE record ->> '$.identity.issuer' = ? AND record ->> '$.identity.subject' = ?`,
    )
  }

  findByEmail(email: string): Promise<Versioned<User> | null> {
    return this.#db.read(() => foundIn<User>(this.#byEmail, email))
  }

  findByIdentity({ issuer, subject }: Identity): Promise<Versioned<User> | null> {
    return this.#db.read(() => foundIn<User>(this.#byIdentity, issuer, subject))
  }
}

export class SqliteMembers extends SqliteRecords<Member> implements Members {
  readonly #db: Database
  readonly #find: Statement
  readonly #ofUser: Statement

  constructor(db: Database, ledgers: Ledgers) {
    const anySuper = db.prepare(
      `SELECT 1 FROM members WHERE account = ? AND record ->> 'isSuper' = 1 AND record ->> 'status' = 'accepted' LIMIT 1`,
    )
    const hasSuper = (account: string) => anySuper.get(account) !== undefined
    super(db, ledgers, {
      name: 'member',
      table: 'members',
      createdAt,
      guard: (account, write) => {
        const hadSuper = hasSuper(account)
        const isDone = write()
        if (hadSuper && !hasSuper(account)) throw new LastSuperAdministrator()
        return isDone
      },
    })
    this.#db = db
    this.#find = db.prepare(`SELECT version, record FROM members WHERE record ->> 'user' = ? AND account = ?`)
    this.#ofUser = db.prepare(
      `SELECT record FROM members WHERE record ->> 'user' = ? ORDER BY created_at, id LIMIT ${mostOfUser}`,
    )
  }

  find(account: string, user: string): Promise<Versioned<Member> | null> {
    return this.#db.read(() => foundIn<Member>(this.#find, user, account))
  }

  ofUser(user: string): Promise<readonly Member[]> {
    return this.#db.read(() => this.#ofUser.all(user).map(row => fromRow<Member>(row)))
  }
}
