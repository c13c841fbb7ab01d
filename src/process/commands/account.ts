// `gatehouse account`: further accounts, straight from the store, for the operator of the machine.

import { visible } from '../../base/text/visible.ts'
import { maxNameLength, viewAccount } from '../../admin/people/accounts.ts'
import { Field } from '../../admin/http/field.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import { createAccount } from '../store/new-account.ts'
import { reportEmpty, withConfiguredStore } from './store/configured-store.ts'
import type { Input } from './input.ts'
import { columns } from '../terminal/format.ts'
import { tell, printResult } from '../terminal/output.ts'

/** Writes only the id of the new account to stdout, so that a script can capture it. */
export async function create(input: Input): Promise<number> {
  const faults: Fault[] = []
  new Field(input.name, faults, '', '--name').text(maxNameLength)
  for (const { message } of faults) tell(`gatehouse: ${message}`)
  if (faults.length > 0) return 2
  return withConfiguredStore(input, async store => {
    const { length: count } = await store.accounts.list()
    if (count === 0) return reportEmpty(store)
    const { account, gateway } = await createAccount(store, input.name ?? `Account ${count + 1}`, Date.now())
    tell(nextSteps(account.id, account.name, gateway.id))
    return printResult(input, viewAccount(account), `${account.id}\n`)
  })
}

export function list(input: Input): Promise<number> {
  return withConfiguredStore(input, async store => {
    const accounts = (await store.accounts.list()).map(viewAccount)
    if (accounts.length === 0) return reportEmpty(store)
    const rows = accounts.map(({ id, name, created_on }) => [id, name, created_on])
    return printResult(input, accounts, columns([['ID', 'NAME', 'CREATED'], ...rows]))
  })
}

function nextSteps(id: string, name: string, gateway: string): string {
  return `Created the account ${visible(name)}, with the gateway ${gateway}, which requires a token. Nobody has access yet; next:
  gatehouse user invite --account ${id}   prints a link for its first super administrator
  gatehouse token create --account ${id}  prints a token that calls models`
}
