// What a member's own token permits at this moment. The store has its value and limits; what it permits is
// looked up with the membership, and ends with it.

import { permissionGroups } from '../../permissions/permission-groups.ts'
import { groupsOfRoles } from '../../permissions/roles.ts'
import { lacksSecondFactor } from '../../people/second-factor/second-factor.ts'
import { everybody } from '../../store/records/people.ts'
import type { Token } from '../../store/records/records.ts'
import type { RecordChange } from '../../store/cache/read-through.ts'
import type { Store } from '../../store/contract/store.ts'

/** The only permission group of such tokens. */
export const runGroup = permissionGroups.find(({ name }) => name === 'AI Gateway Run')!.id

export class PersonalTokens {
  readonly kinds = ['member', 'user', 'account'] as const
  readonly #store: Pick<Store, 'members' | 'users' | 'accounts'>

  constructor(store: Pick<Store, 'members' | 'users' | 'accounts'>) {
    this.#store = store
  }

  /**
   * Returns the token with what its owner may do now: to run models if their roles include that, otherwise
   * nothing; null if the membership is gone. Rejects with `StoreUnreachable`.
   */
  async reach(token: Token & Required<Pick<Token, 'person'>>): Promise<Token | null> {
    const { account, person } = token
    const [member, user, owning] = await Promise.all([
      this.#store.members.find(account, person.user),
      this.#store.users.get(everybody, person.user),
      this.#store.accounts.get(account),
    ])
    if (member === null || user === null || owning === null) return null
    const { id, status, roles } = member.record
    if (id !== person.member || status !== 'accepted') return null
    const mayRun = groupsOfRoles(roles).has(runGroup) && !lacksSecondFactor(user.record, owning)
    const policies = mayRun ? token.policies.map(policy => onlyRun(policy, account)) : []
    return { ...token, policies }
  }

  /** Whether a change may affect a token. */
  concerns({ id }: RecordChange, { account, person }: Token): boolean {
    return person !== undefined && (id === person.member || id === person.user || id === account)
  }
}

/** Reduces a policy to what such tokens may permit; what it denies stays. */
function onlyRun(policy: Token['policies'][number], account: string): Token['policies'][number] {
  const permissionGroups = policy.permissionGroups.filter(group => group === runGroup)
  return { ...policy, permissionGroups, accounts: [account] }
}
