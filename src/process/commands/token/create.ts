// `gatehouse token create`: writes a token to the store directly, for operators who lost the first one or
// have no admin listener.

import { viewToken } from '../../../admin/tokens/view.ts'
import { nearest } from '../../../base/text/nearest.ts'
import { permissionGroups } from '../../../permissions/permission-groups.ts'
import { newToken } from '../../../tokens/new-token.ts'
import { TokenTags } from '../../../tokens/token-tags.ts'
import { tokenResource } from '../../../store/records/audit-entry.ts'
import type { Input } from '../input.ts'
import { auditHere, withAccount } from '../store/configured-store.ts'
import { json } from '../../terminal/format.ts'
import { complain, print, tell } from '../../terminal/output.ts'

/**
 * Writes the value to stdout and all else to stderr, so that a script can capture it; returns 1 when the
 * store refuses, 2 for invalid arguments.
 */
export async function create(input: Input): Promise<number> {
  const { name = 'command line', permission: wanted = ['AI Gateway Run'] } = input
  const groups = permissionGroups.filter(({ name }) => wanted.includes(name))
  const unknown = wanted.find(name => !groups.some(group => group.name === name))
  if (unknown !== undefined) return complain(unknownPermission(unknown))
  return withAccount(input, async (store, account) => {
    const permissions = groups.map(({ id }) => id)
    const policy = { effect: 'allow', permissionGroups: permissions, accounts: [account] } as const
    const now = Date.now()
    const minted = await new TokenTags(store).mint('svct_')
    const { token, value } = newToken(account, { name, policies: [policy] }, now, minted)
    const audit = auditHere(account, 'create', tokenResource(token), ['name', 'policies'], now)
    if (!(await store.tokens.insert(token, { audit }))) throw new Error('two random token ids are the same')
    tell(`Account ${account}, token ${token.id}. Its value is shown only once:`)
    print(input.json ? json({ ...viewToken(token, now), value }) : `${value}\n`)
    return 0
  })
}

function unknownPermission(name: string): string {
  const known = permissionGroups.map(group => group.name)
  const meant = nearest(name, known)
  const hint = meant === null ? `known: ${known.join(', ')}` : `did you mean '${meant}'?`
  return `unknown permission '${name}'; ${hint}`
}
