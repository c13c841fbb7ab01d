// The management API's view of an API token: everything but its value and digest.

import type { Policy, Token, TokenOwner } from '../../store/records/records.ts'
import { permissionGroups } from '../../permissions/permission-groups.ts'
import { isoTime, isoTimeOfUse } from '../records/record-handlers.ts'
import { viewSpendLimits } from '../spend-limits/view.ts'
import { resourcePrefix } from './body.ts'

/** Shows a token without its value and digest; `lastUsed` is in ms since the epoch. */
export function viewToken(token: Token, now: number, lastUsed?: number) {
  return {
    id: token.id,
    name: token.name,
    status: statusOf(token, now),
    policies: token.policies.map(viewPolicy),
    ...(token.person && { person: viewPerson(token.person) }),
    ...viewCondition(token),
    ...(token.gateways && { gateways: token.gateways }),
    ...(token.models && { models: token.models }),
    ...(token.spendLimits && { spend_limits: viewSpendLimits(token.spendLimits) }),
    ...viewLimits(token),
    issued_on: isoTime(token.issuedOn),
    modified_on: isoTime(token.modifiedOn),
    ...(lastUsed !== undefined && { last_used_on: isoTimeOfUse(lastUsed, token.issuedOn) }),
  }
}

function viewPerson({ user, email, isEmailVerified = false }: TokenOwner) {
  return { id: user, email, email_verified: isEmailVerified }
}

function viewPolicy({ id, effect, permissionGroups: groups, accounts }: Policy) {
  return {
    id,
    effect,
    permission_groups: groups.map(id => ({
      id,
      name: permissionGroups.find(group => group.id === id)?.name,
    })),
    resources: Object.fromEntries(accounts.map(account => [resourcePrefix + account, '*'])),
  }
}

function viewCondition({ addressesIn, addressesNotIn }: Token) {
  if (addressesIn.length === 0 && addressesNotIn.length === 0) return {}
  const request_ip = {
    ...(addressesIn.length > 0 && { in: addressesIn }),
    ...(addressesNotIn.length > 0 && { not_in: addressesNotIn }),
  }
  return { condition: { request_ip } }
}

export function viewLimits({ notBefore, expiresOn }: Token) {
  return {
    ...(notBefore !== null && { not_before: isoTime(notBefore) }),
    ...(expiresOn !== null && { expires_on: isoTime(expiresOn) }),
  }
}

export function statusOf({ status, expiresOn }: Token, now: number): Token['status'] | 'expired' {
  return status === 'active' && expiresOn !== null && now >= expiresOn ? 'expired' : status
}
