// `gatehouse member list` and `gatehouse member roles`: the members of an account, and the roles that exist.

import { withApi } from '../api/session.ts'
import type { Input } from '../input.ts'
import { columns, json } from '../../terminal/format.ts'
import { print } from '../../terminal/output.ts'
import { members, roles, type ShownMember, type ShownRole } from './shown-member.ts'

export function list(input: Input): Promise<number> {
  return withApi(input, async api => {
    const filters = input.status === undefined ? {} : { status: input.status }
    const found = await api.all<ShownMember>(members, filters)
    print(input.json ? json(found) : columns([memberHead, ...found.map(memberCells)]))
    return 0
  })
}

export function listRoles(input: Input): Promise<number> {
  return withApi(input, async api => {
    const { result } = await api.ask<readonly ShownRole[]>('GET', roles)
    print(input.json ? json(result) : columns([roleHead, ...result.map(roleCells)]))
    return 0
  })
}

const memberHead = ['MEMBER ID', 'STATUS', 'EMAIL', 'ROLES']
const roleHead = ['ROLE ID', 'NAME', 'DESCRIPTION']

function memberCells({ id, status, email, roles }: ShownMember): string[] {
  return [id, status, email, roles.map(({ name }) => name).join(', ')]
}

function roleCells({ id, name, description }: ShownRole): string[] {
  return [id, name, description]
}
