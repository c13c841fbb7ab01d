// Keeps users and members in a store, for tests of what asks about them.

import { randomBytes } from 'node:crypto'
import { areSuper, roles } from '../../../src/permissions/roles.ts'
import { everybody, type Member, type User } from '../../../src/store/records/people.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { account } from '../../tokens/token-with.ts'

const newId = () => randomBytes(16).toString('hex')

/** The ids of roles, by short names. */
export const role = {
  super: idOf('Super Administrator - All Privileges'),
  administrator: idOf('Administrator'),
  clients: idOf('OAuth Client Write'),
  gateways: idOf('AI Gateway Admin'),
  reader: idOf('Administrator Read Only'),
} as const

export function userWith(members: Partial<User> = {}): User {
  const id = newId()
  return {
    account: everybody,
    id,
    email: `${id.slice(0, 8)}@example.com`,
    firstName: 'Ada',
    lastName: 'Lovelace',
    password: null,
    identity: null,
    totp: null,
    passwordChangedAt: null,
    createdAt: 0,
    modifiedAt: 0,
    ...members,
  }
}

export function memberWith(user: User, roles: readonly string[], members: Partial<Member> = {}): Member {
  return {
    account,
    id: newId(),
    user: user.id,
    status: 'accepted',
    roles,
    isSuper: areSuper(roles),
    createdAt: 0,
    modifiedAt: 0,
    ...members,
  }
}

/** Keeps a user who is a member with these roles. */
export async function keepMember(
  { users, members }: Pick<Store, 'users' | 'members'>,
  roles: readonly string[],
  { ofUser = {}, ...ofMember }: Partial<Member> & { readonly ofUser?: Partial<User> } = {},
) {
  const user = userWith(ofUser)
  const member = memberWith(user, roles, ofMember)
  await users.insert(user)
  await members.insert(member)
  return { user, member }
}

function idOf(name: string): string {
  return roles.find(role => role.name === name)!.id
}
