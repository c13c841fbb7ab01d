// The form of a new API token.

import type { Draft } from '../parts/draft.ts'

export const renamed = {
  '/policies': 'permissions',
  '/condition/request_ip/in/': 'addresses',
  '/gateways/': 'gateways',
  '/models/': 'models',
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
    ...callsIn(draft),
    ...(day !== '' && { expires_on: endOf(day) }),
  }
}

/** The lists of the form that `Draft.compact` closes up. */
export const lists = ['addresses', 'gateways', 'models'] as const

/** Returns the gateways and models that the form limits the token to; an empty list is no limit. */
export function callsIn(draft: Draft) {
  const [gateways, models] = [draft.list('gateways'), draft.list('models')]
  return { ...(gateways.length > 0 && { gateways }), ...(models.length > 0 && { models }) }
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
