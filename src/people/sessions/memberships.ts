// The memberships that count where a gate judges a person.

import type { Store } from '../../store/contract/store.ts'
import type { User } from '../../store/records/people.ts'
import type { Account, Membership } from '../../store/records/records.ts'
import { lacksSecondFactor } from '../second-factor/second-factor.ts'

/** Returns those in accounts that `counts` lets through; rejects with `StoreUnreachable`. */
export async function membershipsOf(
  store: Store,
  user: User,
  counts: (account: Account) => boolean = () => true,
): Promise<readonly Membership[]> {
  const members = await store.members.ofUser(user.id)
  const accepted = members.filter(({ status }) => status === 'accepted')
  const accounts = await Promise.all(accepted.map(({ account }) => store.accounts.get(account)))
  return accepted.flatMap(({ account, roles }, i) => {
    const settings = accounts[i]
    return settings && !lacksSecondFactor(user, settings) && counts(settings) ? { account, roles } : []
  })
}
