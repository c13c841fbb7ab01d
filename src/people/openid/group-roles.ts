// Roles in accounts that come from the groups of a person at the OpenID provider, as of each sign-in there.

import { newId } from '../../base/ids/id.ts'
import type { GroupRole } from '../../config/model/config.ts'
import type { Logger } from '../../log/log.ts'
import { areSuper, roleOf, roles as allRoles } from '../../permissions/roles.ts'
import type { Store } from '../../store/contract/store.ts'
import { auditOf, keeper, memberResource } from '../../store/records/audit-entry.ts'
import type { Member, User } from '../../store/records/people.ts'
import { endGrantsIn, endTokensOf } from './end-access.ts'

interface GroupRolesParts {
  readonly store: Store
  readonly mapping: readonly GroupRole[]
  readonly log: Logger
}

/** When and from where a person signs in. */
interface Arrival {
  readonly now: number
  readonly address: string
  readonly ray: string
}

/** Larger claims come from something else than a list of somebody's groups. */
const maxGroups = 1_000
const maxName = 256
/** Attempts to write a member while others write the same one. */
const maxAttempts = 20

/** Returns the groups in a claim, none if it is absent; null for all but a list of at most 1,000 names. */
export function groupsIn(claims: object, claim: string): readonly string[] | null {
  if (!Object.hasOwn(claims, claim)) return []
  const value: unknown = (claims as Readonly<Record<string, unknown>>)[claim]
  return Array.isArray(value) && value.length <= maxGroups && value.every(isName) ? value : null
}

function isName(item: unknown): boolean {
  return typeof item === 'string' && item !== '' && item.length <= maxName
}

export class GroupRoles {
  readonly #parts: GroupRolesParts

  constructor(parts: GroupRolesParts) {
    this.#parts = parts
  }

  /**
   * Gives a user the roles of these groups, and takes away those of others; roles given by hand stay, and
   * pending invitations wait for their answer. Rejects with `StoreUnreachable`.
   */
  async apply(user: User, groups: readonly string[], arrival: Arrival): Promise<void> {
    const wanted = await this.#rolesOf(groups)
    const members = await this.#parts.store.members.ofUser(user.id)
    const withGroups = members.filter(({ groupRoles = [] }) => groupRoles.length > 0)
    const accounts = new Set([...wanted.keys(), ...withGroups.map(({ account }) => account)])
    for (const account of accounts) await this.#settle(user, account, wanted.get(account) ?? [], arrival)
  }

  /** By account. */
  async #rolesOf(groups: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const { store, mapping, log } = this.#parts
    const own = new Set(groups)
    const roles = new Map<string, string[]>()
    for (const { group, role, account: named } of mapping) {
      if (!own.has(group)) continue
      const account = named ?? (await store.accounts.oldest())
      if (account === null || (await store.accounts.get(account)) === null) {
        log.warn({ group, account }, 'group of the OpenID provider ignored: there is no such account')
        continue
      }
      roles.set(account, [...new Set([...(roles.get(account) ?? []), idOf(role)])])
    }
    return roles
  }

  async #settle(user: User, account: string, wanted: readonly string[], arrival: Arrival): Promise<void> {
    const { members } = this.#parts.store
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const current = await members.find(account, user.id)
      if (current?.record.status === 'pending') return
      const before = current?.record ?? null
      const next = withGroupRoles(before ?? newMember(account, user, arrival.now), wanted, arrival.now)
      if (areSame(before?.roles ?? [], next.roles) && areSame(before?.groupRoles ?? [], next.groupRoles))
        return
      if (await this.#write(user, current, next, arrival)) return
    }
    throw new Error('the roles of groups could not be stored: others keep writing the member')
  }

  async #write(
    user: User,
    current: { readonly record: Member; readonly version: number } | null,
    next: Member,
    arrival: Arrival,
  ): Promise<boolean> {
    const { store } = this.#parts
    const { account, id } = next
    const { now, address, ray } = arrival
    const origin = { account, caller: keeper, now, address, ray }
    const action = current === null ? 'create' : next.roles.length === 0 ? 'delete' : 'update'
    const values = { before: namesOf(current?.record.roles ?? []), after: namesOf(next.roles) }
    const audit = auditOf(origin, action, memberResource(next, user), ['roles'], values)
    // What an earlier membership left would become active with this one.
    if (action === 'create') await endGrantsIn(next, origin, store)
    if (action === 'create') return store.members.insert(next, { audit })
    if (action === 'update') return store.members.replace(next, current!.version, { audit })
    if (!(await store.members.remove(account, id, { audit }, current!.version))) return false
    await endGrantsIn(next, origin, store)
    await endTokensOf(next, origin, store)
    return true
  }
}

/** Returns a member with the roles given by hand, and those wanted that are not among them. */
export function withGroupRoles(member: Member, wanted: readonly string[], now: number): Member {
  const { roles, groupRoles = [] } = member
  const byHand = roles.filter(role => !groupRoles.includes(role))
  const added = wanted.filter(role => !byHand.includes(role))
  const all = [...byHand, ...added]
  return { ...member, roles: all, groupRoles: added, isSuper: areSuper(all), modifiedAt: now }
}

function newMember(account: string, { id: user }: User, now: number): Member {
  const times = { createdAt: now, modifiedAt: now }
  return { account, id: newId(), user, status: 'accepted', roles: [], isSuper: false, ...times }
}

function idOf(name: GroupRole['role']): string {
  return allRoles.find(role => role.name === name)!.id
}

function namesOf(roles: readonly string[]) {
  return { roles: roles.map(id => roleOf(id)?.name ?? id) }
}

function areSame(some: readonly string[], others: readonly string[] = []): boolean {
  return some.length === others.length && some.every(one => others.includes(one))
}
