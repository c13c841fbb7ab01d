// `gatehouse token create`: writes a token to the store directly, for operators who lost the first one or have no admin listener.

import { nextRay } from '../../base/ray.ts'
import { loadConfig } from '../../config/file/load.ts'
import { auditOf, commandLine } from '../../store/audit-entry.ts'
import type { Store } from '../../store/store.ts'
import { newToken } from '../../tokens/new-token.ts'
import { TokenTags } from '../../tokens/token-tags.ts'
import { permissionGroups } from '../../permissions/permission-groups.ts'
import { chosenAccount } from './chosen-account.ts'
import { configPath, type Input } from './input.ts'
import { isUsable } from './mistakes.ts'
import { storeDialling, storeLocation } from '../store/location.ts'
import { print, tell } from './terminal.ts'
import { withStore } from '../store/with-store.ts'

/** Writes the value to stdout and all else to stderr, so that a script can capture it; returns 1 when the store refuses, 2 for invalid arguments. */
export async function token(input: Input): Promise<number> {
  const wanted = input.permission ?? ['AI Gateway Run']
  const groups = permissionGroups.filter(({ name }) => wanted.includes(name))
  const unknown = wanted.find(name => !groups.some(group => group.name === name))
  if (unknown !== undefined)
    return complain(
      `unknown permission '${unknown}'; known: ${permissionGroups.map(({ name }) => name).join(', ')}`,
    )
  const path = configPath(input)
  const loaded = loadConfig(path)
  if (!isUsable(path, loaded)) return 2
  const ids = groups.map(({ id }) => id)
  const { config } = loaded
  return withStore(storeLocation(config), store => create(store, input, ids), storeDialling(config))
}

async function create(
  store: Store,
  { account: wanted, name = 'command line' }: Input,
  groups: readonly string[],
): Promise<number> {
  const account = await chosenAccount(store, wanted)
  if (typeof account === 'number') return account
  const policy = { effect: 'allow', permissionGroups: groups, accounts: [account] } as const
  const now = Date.now()
  const minted = await new TokenTags(store).mint('svct_')
  const { token, value } = newToken(account, { name, policies: [policy] }, now, minted)
  const origin = { account, caller: commandLine, now, address: '', ray: nextRay() }
  const resource = { resourceKind: 'token', resource: token.id } as const
  const audit = auditOf(origin, 'create', resource, ['name', 'policies'])
  if (!(await store.tokens.insert(token, { audit }))) throw new Error('two random token ids are the same')
  tell(`Account ${account}, token ${token.id}. Its value is shown only once:`)
  print(`${value}\n`)
  return 0
}

function complain(sentence: string): number {
  tell(`gatehouse: ${sentence}`)
  return 2
}
