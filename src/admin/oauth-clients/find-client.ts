// Finds the OAuth client of a path, and changes it.

import { isId } from '../../base/ids/id.ts'
import type { Resource } from '../../store/records/audit-entry.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import { failure } from '../http/envelope.ts'
import type { Api, Call } from '../api/api-types.ts'
import { type Revised, revise } from '../records/record-handlers.ts'
import { unmet } from '../http/precondition.ts'

export const noClient = failure('no_such', 'OAuth client')

export async function findClient({ account, params }: Call, { store }: Pick<Api, 'store'>) {
  const id = params.client_id!
  return isId(id) ? store.oauthClients.get(account, id) : null
}

/** Changes the client of the path if If-Match permits; returns the new one, or the refusal. */
export async function reviseClient(
  { account, params, ifMatch }: Call,
  { store, log }: Api,
  change: (current: OAuthClient) => Revised<OAuthClient>,
): Promise<Revised<OAuthClient>> {
  const id = params.client_id!
  const guarded = (current: OAuthClient) => unmet(ifMatch, current) ?? change(current)
  return (isId(id) ? await revise(store.oauthClients, account, id, guarded, log) : null) ?? noClient
}

export function resourceOf({ id, name }: Pick<OAuthClient, 'id' | 'name'>): Resource {
  return { resourceKind: 'oauth_client', resource: id, resourceName: name }
}
