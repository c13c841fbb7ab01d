// Finds the users of members, and makes those who are invited and not known yet.

import { newId } from '../../base/id.ts'
import { everybody, type Member, type User } from '../../store/people.ts'
import type { Users } from '../../store/store.ts'

/** Users that are asked for at once. */
const atOnce = 50

/** Returns the user with an address; a new one, who can't sign in before an invitation is accepted, where there is none. */
export async function userOfEmail(users: Users, email: string, now: number): Promise<User> {
  for (;;) {
    const kept = await users.findByEmail(email)
    if (kept) return kept.record
    const user = newUser(email, now)
    if (await users.insert(user)) return user
  }
}

/** Returns the users of members, by their ids. */
export async function usersOf(
  users: Users,
  members: readonly Pick<Member, 'user'>[],
): Promise<ReadonlyMap<string, User>> {
  const found = new Map<string, User>()
  for (let at = 0; at < members.length; at += atOnce)
    await Promise.all(
      members.slice(at, at + atOnce).map(async ({ user }) => {
        const kept = await users.get(everybody, user)
        if (kept) found.set(user, kept.record)
      }),
    )
  return found
}

function newUser(email: string, now: number): User {
  return {
    account: everybody,
    id: newId(),
    email,
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
