// The permissions that a token can be given, as the management API lists them. Tokens store their ids.

import { permissions } from './permissions.ts'

type WithoutScope<Rows> = { readonly [Index in keyof Rows]: Omit<Rows[Index], 'scope'> }

/** One per permission, in the same order. */
export const permissionGroups = permissions.map(({ scope: _, ...group }) => group) as unknown as WithoutScope<
  typeof permissions
>
