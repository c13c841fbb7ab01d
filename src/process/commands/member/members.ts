// The verbs of `gatehouse member`, and how people name members and roles at a terminal.

import { isId } from '../../../base/ids/id.ts'
import { visible } from '../../../base/text/visible.ts'
import { columns } from '../../terminal/format.ts'
import { complain, tell, printResult, tellDone } from '../../terminal/output.ts'
import type { ApiClient } from '../api/api-client.ts'
import { confirmed } from '../api/confirm.ts'
import { withApi } from '../api/session.ts'
import type { Input } from '../input.ts'
import { rolesNamed } from './role-names.ts'

export function list(input: Input): Promise<number> {
  return withApi(input, async api => {
    const filters = input.status === undefined ? {} : { status: input.status }
    const records = await api.all<ShownMember>(members, filters)
    return printResult(input, records, columns([memberHead, ...records.map(memberCells)]))
  })
}

export function listRoles(input: Input): Promise<number> {
  return withApi(input, async api => {
    const { result } = await api.ask<readonly ShownRole[]>('GET', roles)
    return printResult(input, result, columns([roleHead, ...result.map(roleCells)]))
  })
}

const memberHead = ['MEMBER ID', 'STATUS', 'EMAIL', 'ROLES']
const roleHead = ['ROLE ID', 'NAME', 'DESCRIPTION']

/** Marks the roles that a group gave: whoever takes one away sees it again. */
function memberCells({ id, status, email, roles, group_roles: ofGroups = [] }: ShownMember): string[] {
  const names = roles.map(({ id, name }) => (ofGroups.includes(id) ? `${name} (group)` : name))
  return [id, status, email, names.join(', ')]
}

function roleCells({ id, name, description }: ShownRole): string[] {
  return [id, name, description]
}

export async function invite(input: Input): Promise<number> {
  const { role: names, args } = input
  if (names === undefined) return complain('an invitation needs --role; gatehouse member roles lists them')
  return withApi(input, async api => {
    const roles = await namedRoles(api, names)
    if (typeof roles === 'string') return complain(roles)
    const body = { email: args[0], roles }
    const { result } = await api.ask<ShownMember>('POST', members, { body, once: true })
    tell(`Invited ${visible(result.email)}. Hand over this link, which is shown only once:`)
    return printResult(input, result, `${visible(result.invitation_url ?? '')}\n`)
  })
}

export async function update(input: Input): Promise<number> {
  const { role: names } = input
  if (names === undefined) return complain('nothing to change; name the roles with --role')
  return withMember(input, async (api, path) => {
    const roles = await namedRoles(api, names)
    if (typeof roles === 'string') return complain(roles)
    const body = { roles: roles.map(id => ({ id })) }
    const { result } = await api.ask<ShownMember>('PUT', path, { body })
    return tellDone(
      input,
      result,
      `${visible(result.email)} now has ${result.roles.map(({ name }) => visible(name)).join(', ')}.`,
    )
  })
}

const removal = {
  consequence: 'removing a member ends what apps may do for them in the account',
  question:
    'This ends what apps may do for this person in the account. Type the address or id again to remove: ',
  refrained: 'Nobody was removed.',
} as const

export function remove(input: Input): Promise<number> {
  return confirmed(withMember, input, removal, async (api, path, named) => {
    const { result } = await api.ask('DELETE', path)
    return tellDone(input, result, `Removed the member ${visible(named)}.`)
  })
}

interface ShownMember {
  readonly id: string
  readonly email: string
  readonly status: string
  readonly roles: readonly ShownRole[]
  /** Absent from earlier gateways. */
  readonly group_roles?: readonly string[]
  readonly invitation_url?: string
}

interface ShownRole {
  readonly id: string
  readonly name: string
  readonly description: string
}

const members = '/members'
const roles = '/roles'

function withMember(
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

async function namedRoles(api: ApiClient, names: readonly string[]) {
  const { result } = await api.ask<readonly ShownRole[]>('GET', roles)
  return rolesNamed(names, result)
}

async function idOf(api: ApiClient, email: string): Promise<string | null> {
  const records = await api.all<ShownMember>(members)
  return records.find(member => member.email === email)?.id ?? null
}

function none(email: string): number {
  complain(`no member has the address ${email}`)
  return 1
}
