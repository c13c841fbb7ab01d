// `gatehouse token list`: the API tokens of an account, straight from the store.

import { viewToken } from '../../../admin/tokens/view.ts'
import type { Token } from '../../../store/records/records.ts'
import type { Store } from '../../../store/contract/store.ts'
import type { Input } from '../input.ts'
import { withAccount } from '../store/configured-store.ts'
import { columns, json } from '../../terminal/format.ts'
import { print } from '../../terminal/output.ts'

export function list(input: Input): Promise<number> {
  return withAccount(input, async ({ tokens }, account) => {
    const now = Date.now()
    const found: ShownToken[] = []
    for await (const some of tokens.walk(account)) found.push(...(await viewsOf(tokens, account, some, now)))
    print(input.json ? json(found) : columns([head, ...found.map(cells)]))
    return 0
  })
}

type ShownToken = ReturnType<typeof viewToken>

async function viewsOf(
  tokens: Store['tokens'],
  account: string,
  some: readonly Token[],
  now: number,
): Promise<readonly ShownToken[]> {
  const uses = await tokens.lastUses(
    account,
    some.map(({ id }) => id),
  )
  return some.map(token => viewToken(token, now, uses.get(token.id)))
}

const head = ['TOKEN ID', 'STATUS', 'CREATED', 'LAST USED', 'EXPIRES', 'PERMISSIONS', 'NAME']

function cells(token: ShownToken): string[] {
  const { id, status, issued_on, last_used_on, expires_on, name, person } = token
  const whose = person === undefined ? name : `${name} (of ${person.email})`
  return [id, status, day(issued_on), day(last_used_on), day(expires_on), permissionsOf(token), whose]
}

function day(moment: string | undefined): string {
  return moment?.slice(0, 10) ?? '-'
}

/** How many permissions are named; an administrator has all. */
const maxNamed = 2

function permissionsOf({ policies }: ShownToken): string {
  const allowed = policies.filter(({ effect }) => effect === 'allow')
  const names = [
    ...new Set(allowed.flatMap(policy => policy.permission_groups.map(({ name }) => name ?? '?'))),
  ]
  const rest = names.length - maxNamed
  return rest <= 1 ? names.join(', ') : `${names.slice(0, maxNamed).join(', ')} and ${rest} more`
}
