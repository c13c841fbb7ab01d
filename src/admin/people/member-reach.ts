// Checks whether roles permit more than the token of the caller, who can then neither grant nor touch them.

import { apiFaults, faultAt } from '../../errors/catalogue/api-faults.ts'
import { type Permission, permits } from '../../permissions/permit.ts'
import { permissionsBeyond, roleOf } from '../../permissions/roles.ts'
import type { Token } from '../../store/records/records.ts'
import { type ApiResponse, failure, failures } from '../http/envelope.ts'

/** Refuses to grant roles that permit something in the account which the token does not; null if it may. */
export function givingBeyond(roles: readonly string[], caller: Token, account: string): ApiResponse | null {
  const faults = roles.flatMap((id, i) => {
    const beyond = permissionsOver([id], caller, account)
    if (beyond.length === 0) return []
    const rule = `your token does not have ${beyond.join(', ')}, so it cannot give the role ${roleOf(id)?.name}`
    return [faultAt(`/roles/${i}`, 'beyond_token', rule)]
  })
  return faults.length > 0 ? failures(faults, apiFaults.beyond_token.status) : null
}

export function touchingBeyond(roles: readonly string[], caller: Token, account: string): ApiResponse | null {
  const beyond = permissionsOver(roles, caller, account)
  if (beyond.length === 0) return null
  const rule = `your token does not have ${beyond.join(', ')}, so it cannot change or remove a member who has`
  return failure('beyond_token', rule)
}

function permissionsOver(roles: readonly string[], caller: Token, account: string): Permission[] {
  return permissionsBeyond(roles, permission => permits(caller, permission, account))
}
