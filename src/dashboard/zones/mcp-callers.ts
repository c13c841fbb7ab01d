// Who called MCP servers, by the names that people know them by.

import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import { apiPath } from '../page/api-client.ts'
import type { PageRequest } from '../page/page-request.ts'
import { paths } from '../page/paths.ts'

export interface CallerName {
  readonly name: string
  readonly page: string | null
}

/** Finds members and API tokens of the account by their subjects, as far as the viewer may see them. */
export async function namesOf(
  request: PageRequest,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, CallerName>> {
  const [members, tokens] = await Promise.all([
    membersAmong(request, subjects),
    tokensAmong(request, subjects),
  ])
  return new Map([...members, ...tokens])
}

interface Member {
  readonly email: string
  readonly user: { readonly id: string }
}

const perPage = 100
/** The page is loaded every few seconds: members of large accounts beyond these keep their ids. */
const maxPages = 5

async function membersAmong(
  { api, account, may }: PageRequest,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, CallerName>> {
  const wanted = new Set(subjects.filter(subject => subject.startsWith('user:')))
  const names = new Map<string, CallerName>()
  if (!may('Members Read')) return names
  for (let page = 1; page <= maxPages && names.size < wanted.size; page++) {
    const response = await api.tryGet<readonly Member[]>(apiPath('accounts', account.id, 'members'), {
      page,
      per_page: perPage,
    })
    if (!response.ok) break
    for (const { email, user } of response.result)
      if (wanted.has(`user:${user.id}`)) names.set(`user:${user.id}`, { name: email, page: null })
    if (page * perPage >= response.info!.total_count) break
  }
  return names
}

async function tokensAmong(
  { api, account, may }: PageRequest,
  subjects: readonly string[],
): Promise<readonly (readonly [string, CallerName])[]> {
  if (!may('API Tokens Read')) return []
  const ids = subjects.flatMap(subject => (subject.startsWith('token:') ? subject.slice(6) : []))
  const all = await mapInTurns(ids, async id => {
    const response = await api.tryGet<{ readonly name: string }>(
      apiPath('accounts', account.id, 'tokens', id),
    )
    if (!response.ok) return []
    return [[`token:${id}`, { name: response.result.name, page: paths.token(account.id, id) }] as const]
  })
  return all.flat()
}
