// The handler of the list of an account's members, in the order of the published clients.

import { sortInTurns } from '../../base/turns/sort-in-turns.ts'
import type { Member, User } from '../../store/people.ts'
import { type ApiResponse, failures } from '../envelope.ts'
import { pageOf, pageOfAll } from '../records/kept.ts'
import { type PageQuery, pageParameters, Parameters } from '../request/query.ts'
import type { Api, Call } from '../row.ts'
import { viewMember } from './member-view.ts'
import { usersOf } from './users.ts'

export const memberParameters = [...pageParameters, 'order', 'direction', 'status'] as const

/** What the list can be ordered by; by creation otherwise. */
export const memberOrders = ['user.first_name', 'user.last_name', 'user.email', 'status'] as const

interface Asked {
  readonly page: PageQuery
  readonly descending: boolean
  readonly order: (typeof memberOrders)[number] | null
  readonly holds: ((member: Member) => boolean) | null
}

export async function listMembers({ account, query }: Call, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const asked = read(query, parameters)
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const { page, order, holds, descending } = asked
  let users: ReadonlyMap<string, User> = new Map()
  const view = (member: Member) => viewMember(member, users.get(member.user)!)
  const prepare = async (members: readonly Member[]) => {
    users = await usersOf(store.users, members)
  }
  if (order === null)
    return pageOf(store.members, account, page, {
      createdAt: ({ createdAt }) => createdAt,
      view,
      holds,
      descending,
      prepare,
    })
  const members: Member[] = []
  for await (const some of store.members.walk(account))
    members.push(...(holds === null ? some : some.filter(holds)))
  await prepare(members)
  const textOf = textsBy[order]
  const key = (member: Member) => textOf(member, users.get(member.user)!)
  const sorted = await sortInTurns(members, (one, other) => compare(key(one), key(other)))
  return pageOfAll(descending ? sorted.toReversed() : sorted, page, view)
}

function read(query: URLSearchParams, parameters: Parameters): Asked {
  const page = parameters.page()
  const descending = parameters.choice('direction', ['asc', 'desc']) === 'desc'
  const order = query.has('order') ? parameters.choice('order', memberOrders) : null
  if (order !== null && query.has('cursor')) parameters.refuse('cursor', 'cannot be combined with order')
  const status = query.has('status') ? parameters.choice('status', ['accepted', 'pending', 'rejected']) : null
  return {
    page,
    descending,
    order,
    holds: status === null ? null : (member: Member) => member.status === status,
  }
}

/** Of those who have not accepted, names are nobody's business. */
const textsBy: Readonly<Record<(typeof memberOrders)[number], (member: Member, user: User) => string>> = {
  'user.first_name': ({ status }, { firstName }) => (status === 'accepted' ? (firstName ?? '') : ''),
  'user.last_name': ({ status }, { lastName }) => (status === 'accepted' ? (lastName ?? '') : ''),
  'user.email': (_, { email }) => email,
  status: ({ status }) => status,
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
