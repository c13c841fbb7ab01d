// The form of a new API token.

import type { Draft } from '../parts/draft.ts'

export const renamed = {
  '/policies': 'permissions',
  '/condition/request_ip/in/': 'addresses',
} as const

/** Returns the ticked permissions. */
export function permissionsIn(draft: Draft) {
  return draft.ticked('permissions').map(id => ({ id }))
}

/** Makes the body of a token from a form; the API reports what is missing. */
export function bodyOf(draft: Draft, account: string) {
  const addresses = draft.list('addresses')
  const day = draft.value('expires_on')
  return {
    name: draft.value('name'),
    policies: [policyOf(draft, account)],
    ...(addresses.length > 0 && { condition: { request_ip: { in: addresses } } }),
    ...(day !== '' && { expires_on: endOf(day) }),
  }
}

/** Makes the policy that allows the ticked permissions. */
export function policyOf(draft: Draft, account: string) {
  return {
    effect: 'allow',
    permission_groups: permissionsIn(draft),
    resources: { [`svc.api.account.${account}`]: '*' },
  }
}

/** Returns the end of a day; the API refuses an invalid one. */
export function endOf(day: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(day) ? `${day}T23:59:59Z` : day
}
