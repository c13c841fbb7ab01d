// Finds the users of members.

import { everybody, type Member, type User } from '../../store/people.ts'
import type { Users } from '../../store/store.ts'

/** Users that are asked for at once. */
const atOnce = 50

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
