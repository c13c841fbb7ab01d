// Handlers of the roles that members of an account can have, and how these are shown.

import { roleOf, roles } from '../../permissions/roles.ts'
import { type ApiResponse, failure, failures, success } from '../http/envelope.ts'
import { pageOfAll } from '../records/record-handlers.ts'
import { Parameters } from '../http/query.ts'
import type { Call } from '../api/api-types.ts'

type Role = (typeof roles)[number]

export const roleParameters = ['page', 'per_page'] as const

export async function listRoles({ query }: Call): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  return parameters.faults.length > 0 ? failures(parameters.faults) : pageOfAll(roles, page, viewRole)
}

export async function getRole({ params }: Call): Promise<ApiResponse> {
  const role = roleOf(params.role_id!)
  return role ? success(viewRole(role)) : failure('no_such', 'Role')
}

export function viewRole({ id, name, description, permissions }: Role) {
  return { id, name, description, permissions: grantsOf(permissions) }
}

/** `OAuth Clients Read` becomes `read` of `oauth_clients`, and `Edit` becomes `write`. */
export function grantsOf(permissions: Role['permissions']) {
  const grants: Record<string, Record<string, true>> = {}
  for (const permission of permissions) {
    const [, thing = '', deed = ''] = /^(.*) (\w+)$/.exec(permission) ?? []
    const verb = deed === 'Edit' ? 'write' : deed.toLowerCase()
    ;(grants[thing.toLowerCase().replaceAll(' ', '_')] ??= {})[verb] = true
  }
  return grants
}
