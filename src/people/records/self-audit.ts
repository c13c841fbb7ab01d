// Records what a person did to their own sign-in, for the administrators of each of their accounts.

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
import type { User } from '../../store/records/people.ts'
import type { Store } from '../../store/contract/store.ts'
import type { ClientInfo } from './client-info.ts'
import { changeUser } from './users.ts'

const maxAccounts = 100

export interface AuditedAction {
  readonly action: AuditAction
  readonly changed?: readonly string[]
  readonly resource?: Resource
  readonly proof?: AuditProof
  readonly caller?: Caller
  readonly except?: string
}

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
      accounts.slice(0, maxAccounts).map(account => ({
        ...auditOf({ account, ...origin }, action, resource, changed),
        ...(proof && { proof }),
      })),
    )
  }

  get first(): AuditEntry | undefined {
    return this.#entries[0]
  }

  async writeRest(): Promise<void> {
    for (const entry of this.#entries.slice(1)) await this.#store.audit.append(entry)
  }

  async write(): Promise<void> {
    await Promise.all(this.#entries.map(entry => this.#store.audit.append(entry)))
  }
}

export async function changeAudited(
  store: Store,
  user: User,
  { client, now, ...action }: AuditedAction & { readonly client: ClientInfo; readonly now: number },
  change: (before: User) => User | null,
  then?: () => Promise<unknown>,
): Promise<User | null> {
  const selfAudit = await SelfAudit.of(store, user, client, now, action)
  const changed = await changeUser(store, user.id, change, selfAudit.first)
  if (changed === null) return null
  await then?.()
  await selfAudit.writeRest()
  return changed
}

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
