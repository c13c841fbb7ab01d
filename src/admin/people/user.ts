// The handler of the user for whom a token acts.

import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import { hasSecondFactor } from '../../people/second-factor/second-factor.ts'
import { everybody, isEmailVerified, type User } from '../../store/records/people.ts'
import { type ApiResponse, failure, success } from '../http/envelope.ts'
import type { Api, UserCall } from '../api/api-types.ts'

export async function getUser({ actor }: UserCall, { store }: Api): Promise<ApiResponse> {
  const current = await store.users.get(everybody, actor.user)
  if (current === null) return failure('no_such', 'User')
  const members = (await store.members.ofUser(actor.user)).filter(({ status }) => status === 'accepted')
  const accounts = await mapInTurns(members, ({ account }) => store.accounts.get(account))
  return success(
    viewUser(
      current.record,
      accounts.some(account => account?.enforceTwoFactor === true),
    ),
  )
}

function viewUser(user: User, isLocked: boolean) {
  const { id, email, firstName, lastName } = user
  return {
    id,
    email,
    email_verified: isEmailVerified(user),
    first_name: firstName,
    last_name: lastName,
    two_factor_authentication_enabled: hasSecondFactor(user),
    two_factor_authentication_locked: isLocked,
    suspended: false,
  }
}
