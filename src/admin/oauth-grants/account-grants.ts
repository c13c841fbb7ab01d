// Handlers of the OAuth grants of an account's members there, for its administrators.

import { isId } from '../../base/ids/id.ts'
import { everybody } from '../../store/records/people.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import { type ApiResponse, failures, success } from '../http/envelope.ts'
import { pageOf } from '../records/record-handlers.ts'
import { Parameters } from '../http/query.ts'
import type { Api, Call } from '../api/api-types.ts'
import { noGrant } from './client-grants.ts'
import { endGrant } from '../upkeep/grant-ending.ts'
import { viewForAccount } from './view.ts'

export async function listAccountGrants({ account, query }: Call, api: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const views = new Map<string, object>()
  return pageOf(api.store.oauthGrants, account, page, {
    createdAt: ({ createdAt }) => createdAt,
    view: ({ id }) => views.get(id),
    prepare: async grants => {
      const shown = await Promise.all(grants.map(grant => viewOf(grant, api)))
      for (const view of shown) views.set(view.id, view)
    },
  })
}

export async function getAccountGrant(call: Call, api: Api): Promise<ApiResponse> {
  const grant = await findGrant(call, api)
  return grant ? success(await viewOf(grant, api)) : noGrant
}

export async function deleteAccountGrant(call: Call, api: Api): Promise<ApiResponse> {
  const grant = await findGrant(call, api)
  return grant && (await endGrant(grant, call, api)) ? success({ id: grant.id }) : noGrant
}

async function findGrant({ account, params }: Call, { store }: Api): Promise<OAuthGrant | null> {
  const id = params.grant_id!
  return isId(id) ? ((await store.oauthGrants.get(account, id))?.record ?? null) : null
}

async function viewOf(grant: OAuthGrant, { store }: Api) {
  const [client, user] = await Promise.all([
    store.oauthClients.get(grant.clientAccount, grant.client),
    store.users.get(everybody, grant.user),
  ])
  return viewForAccount(grant, client?.record ?? null, user?.record ?? null)
}
