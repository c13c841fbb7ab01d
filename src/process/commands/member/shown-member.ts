// Members and roles in the form of the API, and how people name them at a terminal.

import { isId } from '../../../base/ids/id.ts'
import type { ApiClient } from '../api/api-client.ts'
import { withApi } from '../api/session.ts'
import type { Input } from '../input.ts'
import { complain } from '../../terminal/output.ts'

export interface ShownMember {
  readonly id: string
  readonly email: string
  readonly status: string
  readonly roles: readonly ShownRole[]
  readonly invitation_url?: string
}

export interface ShownRole {
  readonly id: string
  readonly name: string
  readonly description: string
}

export const members = '/members'
export const roles = '/roles'

/** Passes on the member that the first argument names, by address or id; 1 if there is none. */
export function withMember(
  input: Input,
  use: (api: ApiClient, path: string, named: string) => Promise<number>,
): Promise<number> {
  const [name = ''] = input.args
  const named = name.toLowerCase()
  if (!isId(named) && !named.includes('@'))
    return Promise.resolve(
      complain('a member is named by an e-mail address, or by an id of 32 hexadecimal digits'),
    )
  return withApi(input, async api => {
    const id = isId(named) ? named : await idOf(api, named)
    return id === null ? none(named) : use(api, `${members}/${id}`, name)
  })
}

/** Returns the ids of roles given by name or id, in any case; or an error sentence. */
export async function rolesNamed(
  api: ApiClient,
  names: readonly string[],
): Promise<readonly string[] | string> {
  const { result } = await api.ask<readonly ShownRole[]>('GET', roles)
  const ids: string[] = []
  for (const name of names) {
    const found = result.find(role => role.id === name || isNamed(role, name))
    if (!found) return `no role is named ${name}; the roles are ${result.map(role => role.name).join(', ')}`
    ids.push(found.id)
  }
  return ids
}

/** The part before a dash is enough, as in `Super Administrator - All Privileges`. */
function isNamed({ name }: ShownRole, wanted: string): boolean {
  const low = name.toLowerCase()
  return [low, low.split(' - ')[0]].includes(wanted.toLowerCase())
}

async function idOf(api: ApiClient, email: string): Promise<string | null> {
  const found = await api.all<ShownMember>(members)
  return found.find(member => member.email === email)?.id ?? null
}

function none(email: string): number {
  complain(`no member has the address ${email}`)
  return 1
}
