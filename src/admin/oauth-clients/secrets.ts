// Handlers for the secrets of OAuth clients. A client has two during a rotation.

import { auditOf } from '../../store/records/audit-entry.ts'
import { revised as revisedClient } from '../../oauth/clients/client.ts'
import { mintSecret, withNewSecret, withoutOldSecret } from '../../oauth/clients/secret.ts'
import { type ApiResponse, failure, success } from '../http/envelope.ts'
import type { Api, Call } from '../api/api-types.ts'
import { once } from '../api/idempotency.ts'
import { put } from '../records/record-handlers.ts'
import { findClient, noClient, resourceOf, reviseClient } from './find-client.ts'
import { unmet } from '../http/precondition.ts'

/** Creates a second secret for the client; the first remains valid until it is dropped. */
export async function rotateSecret(call: Call, api: Api): Promise<ApiResponse> {
  return once(call, api, ['POST', 'rotate_secret', call.params.client_id!], async keep => {
    const current = await findClient(call, api)
    if (current === null) return noClient
    const { record, version } = current
    const refusal = unmet(call.ifMatch, record)
    if (refusal) return refusal
    const { value, secret } = mintSecret(api.secrets, call.now)
    const rotated = withNewSecret(record, secret)
    if (typeof rotated === 'string') return refusals[rotated]
    const client = revisedClient(record, { secrets: rotated.secrets }, call.now)
    const response = success({ client_secret: value })
    const audit = auditOf(call, 'rotate_secret', resourceOf(record), secretMembers)
    const sideWrites = { audit, ...keep(response) }
    return (await put(api.store.oauthClients, client, version, sideWrites, api.log)) ? response : null
  })
}

export async function deleteRotatedSecret(call: Call, api: Api): Promise<ApiResponse> {
  const revised = await reviseClient(call, api, current => {
    const rest = withoutOldSecret(current)
    if (typeof rest === 'string') return refusals[rest]
    const audit = auditOf(call, 'delete_rotated_secret', resourceOf(current), secretMembers)
    const { digest, key } = current.secrets.at(-1)!
    const deletedSecret = { digest, key, deletedAt: call.now }
    return { record: revisedClient(current, { secrets: rest.secrets, deletedSecret }, call.now), audit }
  })
  return 'record' in revised ? success({ id: revised.record.id }) : revised
}

const secretMembers = ['client_secrets', 'has_rotated_secret']

const refusals = {
  two_secrets: failure('two_secrets'),
  no_secrets: failure('no_secrets'),
  one_secret: failure('one_secret'),
} as const
