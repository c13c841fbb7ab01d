// `gatehouse member update`: changes the roles of a member.

import { visible } from '../../../base/text/visible.ts'
import type { Input } from '../input.ts'
import { json } from '../../terminal/format.ts'
import { complain, print, tell } from '../../terminal/output.ts'
import { rolesNamed, type ShownMember, withMember } from './shown-member.ts'

export async function update(input: Input): Promise<number> {
  const { role: names } = input
  if (names === undefined) return complain('nothing to change; name the roles with --role')
  return withMember(input, async (api, path) => {
    const roles = await rolesNamed(api, names)
    if (typeof roles === 'string') return complain(roles)
    const body = { roles: roles.map(id => ({ id })) }
    const { result } = await api.ask<ShownMember>('PUT', path, { body })
    tell(`${visible(result.email)} now has ${result.roles.map(({ name }) => visible(name)).join(', ')}.`)
    if (input.json) print(json(result))
    return 0
  })
}
