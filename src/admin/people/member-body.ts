// Validates the body of an invitation, and that of a change of a member's roles.

import { emailFault, normalEmail } from '../../people/records/email.ts'
import { roleOf, roles as allRoles } from '../../permissions/roles.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import type { Member, User } from '../../store/records/people.ts'
import { Field } from '../http/field.ts'
import { distinct } from '../http/text-list.ts'

interface Invitee {
  readonly email: string
  readonly roles: readonly string[]
}

/** Members of responses, which a change must repeat unmodified. */
const responseMembers = ['id', 'email', 'email_verified', 'status', 'group_roles', 'user'] as const

export function readInvitee(body: unknown): Invitee | readonly Fault[] {
  const faults: Fault[] = []
  const { email, roles, status } = new Field(body, faults).members(['email', 'roles'], ['status'])
  if (status.value !== undefined && status.value !== 'pending')
    status.refuse('must be pending, since the person decides on the invitation')
  const read = { email: normalEmail(email.ruled(emailFault) ?? ''), roles: rolesOf(roles) }
  return faults.length > 0 ? faults : read
}

export function readRoles(
  body: unknown,
  { id, status }: Member,
  { email }: User,
): readonly string[] | { readonly faults: readonly Fault[] } {
  const faults: Fault[] = []
  const members = new Field(body, faults).members(['roles'], responseMembers)
  members.id.mustBe(id)
  mustStay(members.status, status)
  mustStay(members.email, email)
  const entries = members.roles.items(1, allRoles.length)
  const ids = entries.map(entry => entry.members(['id'], ['name', 'description', 'permissions']).id)
  const read = distinct(ids).flatMap(readRole)
  return faults.length > 0 ? { faults } : read
}

function rolesOf(roles: Field): readonly string[] {
  return distinct(roles.items(1, allRoles.length)).flatMap(readRole)
}

function readRole(field: Field): readonly string[] {
  const id = field.ruled(text => (roleOf(text) ? null : 'must be the id of a role: roles lists them'))
  return id === null ? [] : [id]
}

function mustStay(field: Field, value: string): void {
  if (field.value !== undefined && field.value !== value) field.refuse('must be as it is, or be left out')
}
