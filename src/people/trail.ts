// What a person did to their own sign-in, in the audit log of each account of which they are a member: its administrators care.

import { auditOf, type Resource } from '../store/audit-entry.ts'
import type { User } from '../store/people.ts'
import type { AuditAction, AuditEntry } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { Visit } from './visit.ts'

/** Entries of one deed, one for each account. */
export class Trail {
  readonly #store: Store
  readonly #entries: readonly AuditEntry[]

  private constructor(store: Store, entries: readonly AuditEntry[]) {
    this.#store = store
    this.#entries = entries
  }

  static async of(
    store: Store,
    { id }: Pick<User, 'id'>,
    { address, ray }: Visit,
    now: number,
    action: AuditAction,
    changed: readonly string[] = [],
    resource: Resource = { resourceKind: 'user', resource: id },
  ): Promise<Trail> {
    const members = await store.members.ofUser(id)
    const accounts = members.flatMap(({ account, status }) => (status === 'accepted' ? [account] : []))
    const origin = { caller: { id }, now, address, ray }
    return new Trail(
      store,
      accounts.map(account => auditOf({ account, ...origin }, action, resource, changed)),
    )
  }

  /** The entry to write together with the deed. */
  get first(): AuditEntry | undefined {
    return this.#entries[0]
  }

  /** Writes the others, once the deed is done. */
  async writeRest(): Promise<void> {
    for (const entry of this.#entries.slice(1)) await this.#store.audit.append(entry)
  }

  /** Writes all, of a deed that no record tells of. */
  async write(): Promise<void> {
    for (const entry of this.#entries) await this.#store.audit.append(entry)
  }
}
