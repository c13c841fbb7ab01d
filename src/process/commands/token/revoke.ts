// `gatehouse token revoke`: deletes a token from the store; asks first, since its users fail from then on.

import { visible } from '../../../base/text/visible.ts'
import { tokenResource } from '../../../store/records/audit-entry.ts'
import type { Input } from '../input.ts'
import { auditHere } from '../store/configured-store.ts'
import { json } from '../../terminal/format.ts'
import { print, refuse, tell } from '../../terminal/output.ts'
import { withToken } from './one-token.ts'

const deed = {
  consequence: 'everything that uses a token fails once it is revoked',
  question: 'Everything that uses this token will fail. Type its id to revoke it: ',
  refrained: 'Nothing was revoked.',
} as const

/** Requires `--yes`, or the id retyped by a person; returns 1 when the person declines. */
export function revoke(input: Input): Promise<number> {
  return withToken(input, deed, async ({ tokens }, { record: token }) => {
    const { account, id, name } = token
    const audit = auditHere(account, 'delete', tokenResource(token))
    if (!(await tokens.remove(account, id, { audit }))) return refuse(`the token ${id} has just been deleted`)
    tell(`Revoked the token ${id} (${visible(name)}).`)
    if (input.json) print(json({ id }))
    return 0
  })
}
