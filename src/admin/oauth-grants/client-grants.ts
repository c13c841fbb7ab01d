// Handlers of the grants of an OAuth client, for its owner.

import { auditOf } from '../../store/records/audit-entry.ts'
import { type ApiResponse, failure, failures, success } from '../http/envelope.ts'
import { findClient, noClient, resourceOf } from '../oauth-clients/find-client.ts'
import { tellAudit } from '../records/audit.ts'
import { responseOf, cutOf } from '../records/record-handlers.ts'
import { Parameters } from '../http/query.ts'
import type { Api, Call } from '../api/api-types.ts'
import { findGrantOfClient, placeOf } from '../../oauth/grants/iterate-grants.ts'
import { endGrant } from '../upkeep/grant-ending.ts'
import { viewForOwner } from './view.ts'

export const noGrant = failure('no_such', 'OAuth grant')

export async function listClientGrants(call: Call, api: Api): Promise<ApiResponse> {
  const parameters = new Parameters(call.query)
  const page = parameters.page()
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const current = await findClient(call, api)
  if (current === null) return noClient
  const { items, total } = await api.store.oauthGrants.ofClient(current.record.id, cutOf(page))
  return responseOf(items, page, total, { view: viewForOwner, placeOf })
}

/** Ends all grants of a client: their codes and tokens at once, their remains after the response. */
export async function deleteClientGrants(call: Call, api: Api): Promise<ApiResponse> {
  const current = await findClient(call, api)
  if (current === null) return noClient
  const { id } = current.record
  const { store, log, grants } = api
  const audit = auditOf(call, 'revoke', resourceOf(current.record), ['grants'])
  await store.audit.append(audit)
  tellAudit(log, audit)
  await store.credentials.removeOf({ client: id })
  grants.endGrants(id, call)
  return success({ client_id: id })
}

export async function deleteClientGrant(call: Call, api: Api): Promise<ApiResponse> {
  const { params } = call
  const current = await findClient(call, api)
  if (current === null) return noClient
  const id = params.grant_id!
  const grant = await findGrantOfClient(current.record.id, id, api.store)
  if (grant === null || !(await endGrant(grant, call, api))) return noGrant
  return success({ id })
}
