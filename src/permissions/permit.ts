// Whether a token allows an operation on an account.

import type { Policy, Token } from '../store/records/records.ts'
import { permissionGroups } from './permission-groups.ts'

export type Permission = (typeof permissionGroups)[number]['name']

/** Whether a policy allows this for the account, and none denies it. A group that writes includes reading. */
export function permits(token: Token, permission: Permission, account: string): boolean {
  const groups = groupsWith[permission]
  let isAllowed = false
  for (const policy of token.policies) {
    if (!speaksOf(policy, account, groups)) continue
    if (policy.effect === 'deny') return false
    isAllowed = true
  }
  return isAllowed
}

/** Whether a token belongs to the account, or a policy of it allows anything there. */
export function reaches({ account: own, policies }: Token, account: string): boolean {
  if (own === account) return true
  return policies.some(
    ({ effect, accounts }) => effect === 'allow' && (accounts.includes(account) || accounts.includes('*')),
  )
}

function speaksOf(
  { accounts, permissionGroups }: Policy,
  account: string,
  groups: readonly string[],
): boolean {
  if (!accounts.includes(account) && !accounts.includes('*')) return false
  for (const group of groups) if (permissionGroups.includes(group)) return true
  return false
}

/** By permission, the ids of the groups that include it: for reading, also its writing sibling. */
const groupsWith = Object.fromEntries(
  permissionGroups.map(({ name }): [Permission, readonly string[]] => {
    const holders: readonly string[] = [
      name,
      name.replace(/ Read$/, ' Write'),
      name.replace(/ Read$/, ' Edit'),
    ]
    return [name, permissionGroups.filter(group => holders.includes(group.name)).map(({ id }) => id)]
  }),
) as Record<Permission, readonly string[]>
