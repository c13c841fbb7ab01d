// The token that the first argument of a command names, and the confirmation for it.

import { isId } from '../../../base/ids/id.ts'
import type { Token } from '../../../store/records/records.ts'
import type { Store, Versioned } from '../../../store/contract/store.ts'
import { agrees, type Deed, obstacleToAsking } from '../api/confirm.ts'
import type { Input } from '../input.ts'
import { withAccount } from '../store/configured-store.ts'
import { complain, refuse } from '../../terminal/output.ts'

/**
 * Passes on the token once the person agrees, or with `--yes`; returns 1 when they decline or there is no
 * such token, 2 when there is no one to ask.
 */
export async function withToken(
  input: Input,
  deed: Deed,
  use: (store: Store, found: Versioned<Token>) => Promise<number>,
): Promise<number> {
  const [id = ''] = input.args
  if (!isId(id))
    return complain(
      'a token is named by its id of 32 hexadecimal digits, not by its value; gatehouse token list shows them',
    )
  const obstacle = obstacleToAsking(input, deed)
  if (obstacle !== null) return complain(obstacle)
  return withAccount(input, async (store, account) => {
    const found = await store.tokens.get(account, id)
    if (found === null) return refuse(`the account has no token ${id}; gatehouse token list shows them`)
    return (await agrees(input, deed, id)) ? use(store, found) : 1
  })
}
