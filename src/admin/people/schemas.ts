// What accounts, roles and members look like, in requests and in responses.

import { permissions } from '../../permissions/permissions.ts'
import { roles } from '../../permissions/roles.ts'
import { about, exactly, flag, id, oneOf, open, text, time } from '../openapi/schemas.ts'

export const account = open({
  id,
  name: text,
  type: exactly('standard'),
  created_on: time,
  settings: open({ enforce_twofactor: about('Whether members must use a second factor.', flag) }),
})

const roleId = oneOf(roles.map(({ id }) => id))

/** What is permitted, by what it is for: such as `read` of `oauth_clients`. */
const grants = {
  ...open(
    {},
    Object.fromEntries(
      permissions.map(({ scope }) => [scope.split('.')[0], open({}, { read: flag, write: flag, run: flag })]),
    ),
  ),
  description: 'What it permits, by what that is for.',
}

export const role = open({ id: roleId, name: text, description: text, permissions: grants })
