// Common parts of the handlers of members and memberships: the member of a path, its user, and its removal.

import { isId } from '../../base/ids/id.ts'
import { auditOf, memberResource } from '../../store/records/audit-entry.ts'
import { everybody, type Member, type User } from '../../store/records/people.ts'
import { LastSuperAdministrator, type Versioned } from '../../store/contract/store.ts'
import { type ApiResponse, failure, success } from '../http/envelope.ts'
import { endTokensOf } from '../tokens/own-tokens.ts'
import { endGrantsOf } from '../upkeep/grant-ending.ts'
import { drop } from '../records/record-handlers.ts'
import type { Api, Call } from '../api/api-types.ts'

export const noMember = failure('no_such', 'Member')

export async function findMember(
  { account, params }: Call,
  { store }: Api,
): Promise<Versioned<Member> | null> {
  const id = params.member_id!
  return isId(id) ? store.members.get(account, id) : null
}

export async function userOf({ user }: Member, { store }: Api): Promise<User> {
  const current = await store.users.get(everybody, user)
  if (current === null) throw new Error(`the user ${user} of a member is missing`)
  return current.record
}

/** Responds 409 if a write would leave the account without a super administrator. */
export async function keepingOneSuper(write: () => Promise<ApiResponse>): Promise<ApiResponse> {
  try {
    return await write()
  } catch (cause) {
    if (cause instanceof LastSuperAdministrator) return failure('last_super_administrator')
    throw cause
  }
}

/** Removes a member, unless that is refused, with the user's grants to apps in the account. */
export function removeMember(
  find: () => Promise<Versioned<Member> | null>,
  refuse: (current: Member) => ApiResponse | null,
  call: Call,
  api: Api,
  missing = noMember,
): Promise<ApiResponse> {
  return keepingOneSuper(async () => {
    for (;;) {
      const current = await find()
      if (current === null) return missing
      const { id, account, user } = current.record
      const refusal = refuse(current.record)
      if (refusal) return refusal
      const person = await api.store.users.get(everybody, user)
      const audit = auditOf(
        { ...call, account },
        'delete',
        memberResource(current.record, { email: person?.record.email ?? '' }),
      )
      if (!(await drop(api.store.members, audit, api.log, current.version))) continue
      await endGrantsOf({ account, user }, { ...call, account }, api)
      await endTokensOf(current.record, call, api)
      return success({ id })
    }
  })
}
