// `gatehouse member invite`: creates an invited member, and the link with which they accept.

import { visible } from '../../../base/text/visible.ts'
import { withApi } from '../api/session.ts'
import type { Input } from '../input.ts'
import { json } from '../../terminal/format.ts'
import { complain, print, tell } from '../../terminal/output.ts'
import { members, rolesNamed, type ShownMember } from './shown-member.ts'

/** Writes the link to stdout, all else to stderr. */
export async function invite(input: Input): Promise<number> {
  const { role: names, args } = input
  if (names === undefined) return complain('an invitation needs --role; gatehouse member roles lists them')
  return withApi(input, async api => {
    const roles = await rolesNamed(api, names)
    if (typeof roles === 'string') return complain(roles)
    const body = { email: args[0], roles }
    const { result } = await api.ask<ShownMember>('POST', members, { body, once: true })
    tell(`Invited ${visible(result.email)}. Hand over this link, which is shown only once:`)
    print(input.json ? json(result) : `${visible(result.invitation_url ?? '')}\n`)
    return 0
  })
}
