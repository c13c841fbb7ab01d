// Creates, finds and changes user records.

import { newId } from '../../base/ids/id.ts'
import type { AuditEntry } from '../../store/records/records.ts'
import { everybody, type User } from '../../store/records/people.ts'
import type { Store, Users } from '../../store/contract/store.ts'

export interface Names {
  readonly firstName?: string | null
  readonly lastName?: string | null
}

/** Makes a user, who cannot sign in before a password or an identity is set. */
export function newUser(email: string, now: number): User {
  return {
    account: everybody,
    id: newId(),
    email,
    emailVerifiedAt: null,
    firstName: null,
    lastName: null,
    password: null,
    identity: null,
    totp: null,
    passwordChangedAt: null,
    createdAt: now,
    modifiedAt: now,
  }
}

export async function userOfEmail(users: Users, email: string, now: number): Promise<User> {
  for (;;) {
    const stored = await users.findByEmail(email)
    if (stored) return stored.record
    const user = newUser(email, now)
    if (await users.insert(user)) return user
  }
}

/** Whether a user can prove who they are; one who was invited and has not accepted cannot. */
export function canSignIn({ password, identity }: User): boolean {
  return password !== null || identity !== null
}

/** Changes a user, again after a concurrent change; null if `change` returns nothing, or they are gone. */
export async function changeUser(
  { users }: Store,
  id: string,
  change: (user: User) => User | null,
  audit?: AuditEntry,
): Promise<User | null> {
  for (;;) {
    const user = await users.get(everybody, id)
    const changed = user && change(user.record)
    if (!changed) return null
    if (await users.replace(changed, user.version, audit && { audit })) return changed
  }
}

/** Sets the given names, without invisible characters; an empty one changes nothing. */
export function withNames(user: User, { firstName, lastName }: Names): User {
  return {
    ...user,
    firstName: visibleName(firstName) || user.firstName,
    lastName: visibleName(lastName) || user.lastName,
  }
}

const maxNameLength = 64 // code points

/** Returns a name without invisible characters, of 64 code points at most. */
export function visibleName(name: string | null | undefined): string {
  const shown = (name ?? '')
    .normalize('NFC')
    .replace(/[\s\p{Z}]+/gu, ' ')
    .replace(/\p{C}/gu, '')
  return Array.from(shown.trim()).slice(0, maxNameLength).join('')
}
