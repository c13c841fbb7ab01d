// What a person did to their own sign-in, in the audit log of each account of which they are a member: its administrators care.

import {
  auditOf,
  type Caller,
  inPerson,
  type KnownUser,
  type Resource,
  signingIn,
  userResource,
} from '../../store/records/audit-entry.ts'
import type { AuditAction, AuditEntry, AuditProof } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import type { ClientInfo } from './client-info.ts'

/** Accounts that are told of one deed. */
const mostAccounts = 100

/** What was done, by whom and to what. */
export interface AuditedAction {
  readonly action: AuditAction
  readonly changed?: readonly string[]
  /** The user, unless it is something of theirs. */
  readonly resource?: Resource
  readonly proof?: AuditProof
  /** Who did it; the user, unless it was somebody for them. */
  readonly caller?: Caller
  /** An account that is told by somebody else. */
  readonly except?: string
}

/** Entries of one deed, one for each account. */
export class SelfAudit {
  readonly #store: Store
  readonly #entries: readonly AuditEntry[]

  private constructor(store: Store, entries: readonly AuditEntry[]) {
    this.#store = store
    this.#entries = entries
  }

  static async of(
    store: Store,
    user: KnownUser,
    { address, ray }: Pick<ClientInfo, 'address' | 'ray'>,
    now: number,
    {
      action,
      changed = [],
      resource = userResource(user),
      proof,
      caller = inPerson(user),
      except,
    }: AuditedAction,
  ): Promise<SelfAudit> {
    const members = await store.members.ofUser(user.id)
    const accounts = members.flatMap(({ account, status }) =>
      status === 'accepted' && account !== except ? [account] : [],
    )
    const origin = { caller, now, address, ray }
    return new SelfAudit(
      store,
      accounts.slice(0, mostAccounts).map(account => ({
        ...auditOf({ account, ...origin }, action, resource, changed),
        ...(proof && { proof }),
      })),
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
    await Promise.all(this.#entries.map(entry => this.#store.audit.append(entry)))
  }
}

/** Writes in the audit logs of a user's accounts that they have signed in, or done what belongs to that. */
export async function auditSignIn(
  store: Store,
  user: KnownUser,
  client: Pick<ClientInfo, 'address' | 'ray'>,
  now: number,
  { action = 'sign_in', ...deed }: Partial<Pick<AuditedAction, 'action' | 'proof' | 'resource'>>,
): Promise<void> {
  const selfAudit = await SelfAudit.of(store, user, client, now, { ...deed, action, caller: signingIn(user) })
  await selfAudit.write()
}
