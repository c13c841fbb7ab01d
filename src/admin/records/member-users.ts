// Finds the users of members.

import type { Member, User } from '../../store/records/people.ts'
import type { Users } from '../../store/contract/store.ts'

export async function usersOf(
  users: Users,
  members: readonly Pick<Member, 'user'>[],
): Promise<ReadonlyMap<string, User>> {
  const records = await users.withIds(members.map(({ user }) => user))
  return new Map(records.map(user => [user.id, user]))
}
