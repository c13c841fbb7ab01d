// The handler of the list of an account's members, in the order of the published clients.

import { sortInTurns } from '../../base/turns/sort-in-turns.ts'
import type { Member, User } from '../../store/records/people.ts'
import { type ApiResponse, failures, listInTurns } from '../http/envelope.ts'
import { pageOf } from '../records/record-handlers.ts'
import { type PageQuery, pageParameters, Parameters } from '../http/query.ts'
import type { Api, Call } from '../api/api-types.ts'
import { viewMember } from './member-view.ts'
import { usersOf } from '../records/member-users.ts'

export const memberParameters = [...pageParameters, 'order', 'direction', 'status', 'search'] as const

export const memberOrders = ['user.first_name', 'user.last_name', 'user.email', 'status'] as const

interface Criteria {
  readonly page: PageQuery
  readonly descending: boolean
  readonly order: (typeof memberOrders)[number] | null
  readonly holds: ((member: Member) => boolean) | null
  readonly search: string
}

export async function listMembers({ account, query }: Call, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const criteria = read(query, parameters)
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const { page, order, holds, descending, search } = criteria
  let users: ReadonlyMap<string, User> = new Map()
  const view = (member: Member) => viewMember(member, users.get(member.user)!)
  const prepare = async (members: readonly Member[]) => {
    users = await usersOf(store.users, members)
  }
  if (order === null && search === '')
    return pageOf(store.members, account, page, {
      createdAt: ({ createdAt }) => createdAt,
      view,
      holds,
      descending,
      prepare,
    })
  const sorted = await sortInTurns(await placesOf(account, criteria, store), (one, other) =>
    compare(one.text, other.text),
  )
  const { page: number, perPage } = page
  const from = (number - 1) * perPage
  const shown = (descending ? sorted.toReversed() : sorted).slice(from, from + perPage)
  // Some may have been removed in between.
  const current = await Promise.all(shown.map(({ id }) => store.members.get(account, id)))
  const members = current.flatMap(one => one?.record ?? [])
  await prepare(members)
  return listInTurns(members, view, { page: number, perPage, total: sorted.length })
}

interface Place {
  readonly id: string
  readonly text: string
}

/** Sort keys rather than records: thousands of these would cause a long pause of the garbage collector. */
async function placesOf(
  account: string,
  { order, holds, search }: Criteria,
  { members, users }: Api['store'],
): Promise<readonly Place[]> {
  const textOf = textsBy[order ?? 'user.email']
  const places: Place[] = []
  for await (const some of members.walk(account)) {
    const holders = holds === null ? some : some.filter(holds)
    const usersById =
      order === 'status' && search === '' ? new Map<string, User>() : await usersOf(users, holders)
    for (const member of holders) {
      const user = usersById.get(member.user)!
      if (search === '' || isMatch(member, user, search))
        places.push({ id: member.id, text: textOf(member, user) })
    }
  }
  return places
}

/** Whether an address or a name contains some words; names of people who have not accepted are private. */
function isMatch({ status }: Member, { email, firstName, lastName }: User, words: string): boolean {
  const name = status === 'accepted' ? [firstName, lastName].filter(Boolean).join(' ') : ''
  return `${email}\n${name}`.toLowerCase().includes(words)
}

function read(query: URLSearchParams, parameters: Parameters): Criteria {
  const page = parameters.page()
  const descending = parameters.choice('direction', ['asc', 'desc']) === 'desc'
  const order = query.has('order') ? parameters.choice('order', memberOrders) : null
  const search = query.get('search')?.trim().toLowerCase() ?? ''
  if (order !== null && query.has('cursor')) parameters.refuse('cursor', 'cannot be combined with order')
  else if (search !== '' && query.has('cursor')) parameters.refuse('cursor', 'cannot be combined with search')
  const status = query.has('status') ? parameters.choice('status', ['accepted', 'pending', 'rejected']) : null
  return {
    page,
    descending,
    order,
    search,
    holds: status === null ? null : (member: Member) => member.status === status,
  }
}

/** Names of people who have not accepted are private. */
const textsBy: Readonly<Record<(typeof memberOrders)[number], (member: Member, user: User) => string>> = {
  'user.first_name': ({ status }, { firstName }) => (status === 'accepted' ? (firstName ?? '') : ''),
  'user.last_name': ({ status }, { lastName }) => (status === 'accepted' ? (lastName ?? '') : ''),
  'user.email': (_, { email }) => email,
  status: ({ status }) => status,
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
