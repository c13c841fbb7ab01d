// Handlers of OAuth clients. The value of a secret is shown once, when it is created.

import { scopesWith } from '../../permissions/scopes.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import { auditOf } from '../../store/records/audit-entry.ts'
import { newClient } from '../../oauth/clients/client.ts'
import { mintSecret } from '../../oauth/clients/secret.ts'
import { verificationFor } from '../../domains/challenge.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import { membersSet, updateOf } from '../records/audit.ts'
import { readNewClient } from './body.ts'
import { changeClient } from './client-change.ts'
import { viewClient } from './view.ts'
import { type ApiResponse, failures, success } from '../http/envelope.ts'
import type { Api, Call } from '../api/api-types.ts'
import { once } from '../api/idempotency.ts'
import { add, cutOf, drop, pageOf, responseOf } from '../records/record-handlers.ts'
import { findClient, noClient, resourceOf, reviseClient } from './find-client.ts'
import { etagOf, unmet } from '../http/precondition.ts'
import { maxSinglePage, pageParameters, Parameters } from '../http/query.ts'

export const clientParameters = [...pageParameters, 'client_name', 'visibility'] as const

export async function createClient(call: Call, api: Api): Promise<ApiResponse> {
  return once(call, api, ['POST', 'oauth_clients'], async keep => {
    const { account, body, now } = call
    const settings = readNewClient(body, scopesWith(api.zones.ofAll().scopes))
    if (!('name' in settings)) return failures(settings)
    const verification = verificationFor(null, settings.clientUri, now)
    if (verification === 'host_frozen') throw new Error('the host of a new client is frozen')
    const isSecret = settings.tokenEndpointAuthMethod !== 'none'
    const { value, secret } = isSecret ? mintSecret(api.secrets, now) : { value: null, secret: null }
    const client = newClient(account, settings, { secret, verification, now })
    const response = success(viewClient(client, api.secrets, value), etagOf(client))
    const audit = auditOf(call, 'create', resourceOf(client), membersSet(body))
    const sideWrites = { audit, ...keep(response) }
    return (await add(api.store.oauthClients, client, sideWrites, api.log)) ? response : null
  })
}

/** By default as large as possible, since published clients take the first page for the whole list. */
export async function listClients({ account, query }: Call, { store, secrets }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page(maxSinglePage, maxSinglePage)
  const visibility = query.has('visibility') ? parameters.choice('visibility', ['private', 'public']) : null
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const name = query.get('client_name') ?? ''
  const view = (client: OAuthClient) => viewClient(client, secrets)
  if (name === '' && visibility === null)
    return pageOf(store.oauthClients, account, page, { createdAt: ({ createdAt }) => createdAt, view })
  const { items, total } = await store.oauthClients.search(account, { name, visibility }, cutOf(page))
  return responseOf(items, page, total, { view, placeOf: ({ createdAt, id }) => ({ at: createdAt, id }) })
}

export async function getClient(call: Call, api: Api): Promise<ApiResponse> {
  const current = await findClient(call, api)
  return current ? respondWith(current.record, api) : noClient
}

/** The same record, which is immutable, gets the same response under the same server keys. */
function respondWith(client: OAuthClient, { secrets }: Api): ApiResponse {
  const cached = responses.get(client)
  if (cached?.secrets === secrets) return cached.response
  const response = success(viewClient(client, secrets), etagOf(client))
  responses.set(client, { secrets, response })
  return response
}

const responses = new WeakMap<OAuthClient, { readonly secrets: SecretKeys; readonly response: ApiResponse }>()

export async function updateClient(call: Call, api: Api): Promise<ApiResponse> {
  let value: string | null = null
  let isUnchanged = false
  let hasDropped = false
  const revised = await reviseClient(call, api, current => {
    const changed = changeClient(
      current,
      call.body,
      api.secrets,
      call.now,
      scopesWith(api.zones.ofAll().scopes),
    )
    if (!('client' in changed)) return failures(changed)
    const { client, secret } = changed
    isUnchanged = client === current
    if (isUnchanged) return success(viewClient(current, api.secrets), etagOf(current))
    value = secret
    hasDropped = current.scopes.some(scope => !client.scopes.includes(scope))
    const audit = updateOf(call, resourceOf(client), withoutTimes(current, api), withoutTimes(client, api))
    return { record: client, audit }
  })
  // The state may come from an earlier attempt of the same request, whose write was not confirmed.
  if (isUnchanged) await api.store.confirm()
  if (!('record' in revised)) return revised
  const { record } = revised
  if (hasDropped) api.grants.trimGrants(record, call)
  return success(viewClient(record, api.secrets, value), etagOf(record))
}

export async function deleteClient(call: Call, { store, log, grants }: Api): Promise<ApiResponse> {
  const id = call.params.client_id!
  for (;;) {
    const current = await findClient(call, { store })
    if (current === null) return noClient
    const refusal = unmet(call.ifMatch, current.record)
    if (refusal) return refusal
    const audit = auditOf(call, 'delete', resourceOf(current.record))
    if (!(await drop(store.oauthClients, audit, log, current.version))) continue
    grants.endClient(id, call)
    return success({ id })
  }
}

function withoutTimes(client: OAuthClient, { secrets }: Api) {
  const { updated_at, ...view } = viewClient(client, secrets)
  return view
}
