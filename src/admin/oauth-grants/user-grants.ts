// Handlers of a user's OAuth grants: their connected apps.

import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import { type ApiResponse, failures, success } from '../http/envelope.ts'
import { responseOf, cutOf } from '../records/record-handlers.ts'
import { Parameters } from '../http/query.ts'
import type { Api, UserCall } from '../api/api-types.ts'
import { noGrant } from './client-grants.ts'
import { findGrantOfUser, placeOf } from '../../oauth/grants/iterate-grants.ts'
import { endGrant } from '../upkeep/grant-ending.ts'
import { viewForUser } from './view.ts'

export async function listUserGrants({ actor, query }: UserCall, api: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const { items, total } = await api.store.oauthGrants.ofUser(actor.user, cutOf(page))
  const views = new Map(
    await Promise.all(items.map(async grant => [grant.id, await viewOf(grant, api)] as const)),
  )
  return responseOf(items, page, total, { view: ({ id }) => views.get(id), placeOf })
}

/** Ends the user's grant to one app; that may be the calling app. */
export async function deleteUserGrant(call: UserCall, api: Api): Promise<ApiResponse> {
  const grant = await findGrantOfUser(call.actor.user, call.params.grant_id!, api.store)
  // Recorded as an action of the user in that account, whichever account the app acts for.
  const isEnded = grant !== null && (await endGrant(grant, { ...call, account: grant.account }, api))
  return isEnded ? success({ id: grant.id }) : noGrant
}

async function viewOf(grant: OAuthGrant, { store }: Api) {
  const [client, account] = await Promise.all([
    store.oauthClients.get(grant.clientAccount, grant.client),
    store.accounts.get(grant.account),
  ])
  return viewForUser(grant, client?.record ?? null, account)
}
