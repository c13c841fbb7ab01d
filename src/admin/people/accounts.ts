// Handlers of accounts, in the shape of the published clients.

import { reaches } from '../../permissions/permit.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import type { Account } from '../../store/records/records.ts'
import { type ApiResponse, failure, failures, success } from '../http/envelope.ts'
import { updateOf } from '../records/audit.ts'
import { isoTime, pageOfAll, tellAfter } from '../records/record-handlers.ts'
import { Field } from '../http/field.ts'
import { Parameters } from '../http/query.ts'
import type { Api, Call } from '../api/api-types.ts'

export const accountParameters = ['page', 'per_page', 'direction', 'name'] as const

export const maxNameLength = 100

/** Responds with the accounts in which the token may do something, by creation. */
export async function listAccounts({ caller, query }: Call, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  const descending = parameters.choice('direction', ['asc', 'desc']) === 'desc'
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const name = query.get('name')?.toLowerCase() ?? ''
  const matches = (await store.accounts.list()).filter(
    account => reaches(caller, account.id) && account.name.toLowerCase().includes(name),
  )
  return pageOfAll(descending ? matches.toReversed() : matches, page, viewAccount)
}

export async function getAccount({ account }: Call, { store }: Api): Promise<ApiResponse> {
  const current = await store.accounts.get(account)
  return current ? success(viewAccount(current)) : noAccount
}

export async function updateAccount(call: Call, { store, log }: Api): Promise<ApiResponse> {
  const { account, body } = call
  const settings = readAccount(body, account)
  if (!('name' in settings)) return failures(settings)
  const current = await store.accounts.get(account)
  if (current === null) return noAccount
  const desired = { ...current, ...settings }
  const resource = { resourceKind: 'account', resource: account, resourceName: desired.name } as const
  const audit = updateOf(call, resource, viewAccount(current), viewAccount(desired))
  const isWritten = await tellAfter(store.accounts.update(account, settings, { audit }), { audit }, log)
  return isWritten ? success(viewAccount(desired)) : noAccount
}

const noAccount = failure('no_such', 'Account')

function readAccount(body: unknown, account: string) {
  const faults: Fault[] = []
  const { id, name, type, settings } = new Field(body, faults).members(
    ['id', 'name', 'type'],
    ['settings', 'created_on'],
  )
  id.mustBe(account)
  type.oneOf(['standard'])
  const { enforce_twofactor, allow_client_id_metadata_documents } = settings.members(
    [],
    ['enforce_twofactor', 'allow_client_id_metadata_documents'],
  )
  const read = {
    name: name.text(maxNameLength) ?? '',
    enforceTwoFactor: enforce_twofactor.flag() ?? false,
    allowsDocumentClients: allow_client_id_metadata_documents.flag() ?? false,
  }
  return faults.length > 0 ? faults : read
}

export function viewAccount(account: Account) {
  const { id, name, enforceTwoFactor = false, allowsDocumentClients = false, createdAt } = account
  return {
    id,
    name,
    type: 'standard',
    created_on: isoTime(createdAt),
    settings: {
      enforce_twofactor: enforceTwoFactor,
      allow_client_id_metadata_documents: allowsDocumentClients,
    },
  }
}
