// The handler of an OAuth client's events at the authorization server: why its users fail to connect.

import {
  type AuthorizationEvent,
  maxEvents as maxProven,
  maxUnproven,
} from '../../store/records/authorization-event.ts'
import { type ApiResponse, failures } from '../http/envelope.ts'
import { findClient, noClient } from '../oauth-clients/find-client.ts'
import { isoTime, pageOfAll } from '../records/record-handlers.ts'
import { Parameters } from '../http/query.ts'
import { proxyIn } from '../http/caller-address.ts'
import type { Api, Call } from '../api/api-types.ts'

export const eventParameters = ['page', 'per_page', 'result'] as const

export const maxEvents = maxProven + maxUnproven

export async function listAuthorizationEvents(call: Call, api: Api): Promise<ApiResponse> {
  const { query } = call
  const parameters = new Parameters(query)
  const page = parameters.page(maxEvents, maxEvents)
  const result = query.has('result') ? parameters.choice('result', ['success', 'failure']) : null
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const current = await findClient(call, api)
  if (current === null) return noClient
  const events = await api.store.authorizationEvents.list(call.account, current.record.id)
  const wanted = result === null ? events : events.filter(event => event.result === result)
  return pageOfAll(wanted, page, viewEvent)
}

function viewEvent({ id, at, step, result, error, reason, user, account, address, ray }: AuthorizationEvent) {
  return {
    id,
    when: isoTime(at),
    step,
    result,
    ...(error !== null && { error }),
    ...(reason !== null && { reason }),
    ...(user !== null && { user: { id: user } }),
    ...(account !== null && { account: { id: account } }),
    ...(address !== '' && proxyIn(address) === null && { ip: address }),
    ...(ray !== '' && { ray }),
  }
}
