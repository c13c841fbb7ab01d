// The view of members. Before acceptance, it must not reveal whether the person is known here.

import { hash } from 'node:crypto'
import { hasSecondFactor } from '../../people/second-factor/second-factor.ts'
import { roleOf } from '../../permissions/roles.ts'
import { isEmailVerified, type Member, type Passkey, type User } from '../../store/records/people.ts'
import { isoTime } from '../records/record-handlers.ts'
import { viewRole } from './roles.ts'

export function viewMember(member: Member, user: User) {
  const { id, status, roles, groupRoles = [] } = member
  return {
    id,
    email: user.email,
    email_verified: isVerified(member, user),
    status,
    roles: roles.flatMap(id => {
      const role = roleOf(id)
      return role ? [viewRole(role)] : []
    }),
    group_roles: groupRoles.filter(id => roles.includes(id)),
    user: viewUserOf(member, user),
  }
}

function isVerified({ status }: Member, user: User): boolean {
  return status === 'accepted' && isEmailVerified(user)
}

function viewUserOf(member: Member, user: User) {
  const { id, email, firstName, lastName } = user
  const isKnown = member.status === 'accepted'
  return {
    id,
    email,
    email_verified: isVerified(member, user),
    first_name: isKnown ? firstName : null,
    last_name: isKnown ? lastName : null,
    two_factor_authentication_enabled: isKnown && hasSecondFactor(user),
    passkeys: isKnown ? (user.passkeys?.keys ?? []).map(viewPasskey) : [],
  }
}

/** Without what identifies it elsewhere. */
function viewPasskey({ name, createdAt, usedAt }: Passkey) {
  return { name, created_at: isoTime(createdAt), last_used_at: usedAt === null ? null : isoTime(usedAt) }
}

export function revisionOf({ id, status, roles, modifiedAt }: Member) {
  return { revision: hash('sha256', JSON.stringify([id, status, roles, modifiedAt])).slice(0, 32) }
}
