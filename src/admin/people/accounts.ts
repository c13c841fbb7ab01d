// Handlers of accounts, in the shape of the published clients.

import { reaches } from '../../permissions/permit.ts'
import type { Account } from '../../store/records.ts'
import { type Answer, failure, failures, success } from '../envelope.ts'
import { isoTime, pageOfAll } from '../records/kept.ts'
import { Parameters } from '../request/query.ts'
import type { Api, Call } from '../row.ts'

export const accountParameters = ['page', 'per_page', 'direction', 'name'] as const

/** Answers with the accounts in which the token may do something, by creation. */
export async function listAccounts({ caller, query }: Call, { store }: Api): Promise<Answer> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  const descending = parameters.choice('direction', ['asc', 'desc']) === 'desc'
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const name = query.get('name')?.toLowerCase() ?? ''
  const found = (await store.accounts.list()).filter(
    account => reaches(caller, account.id) && account.name.toLowerCase().includes(name),
  )
  return pageOfAll(descending ? found.toReversed() : found, page, viewAccount)
}

export async function getAccount({ account }: Call, { store }: Api): Promise<Answer> {
  const kept = await store.accounts.get(account)
  return kept ? success(viewAccount(kept)) : failure('no_such', 'Account')
}

/** Shows an account as the API does. */
function viewAccount({ id, name, createdAt }: Account) {
  return {
    id,
    name,
    type: 'standard',
    created_on: isoTime(createdAt),
    settings: { enforce_twofactor: false },
  }
}
