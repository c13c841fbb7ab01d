// The handler that explains what would happen to a request. Nothing is sent, counted or kept.

import { faultAt } from '../../errors/api-faults.ts'
import { permits } from '../../permissions/permit.ts'
import type { Explanation } from '../../zones/explanation.ts'
import { type ApiResponse, failure, failures, success, withHeaders } from '../envelope.ts'
import type { Api, ZoneCall } from '../row.ts'
import { readQuestion } from './explain-body.ts'

export async function explainRequest(call: ZoneCall, { zones }: Api): Promise<ApiResponse> {
  const { zone, account, body } = call
  const request = readQuestion(body)
  if (!('target' in request)) return failures(request)
  const explained = await zones.explain({ ...request, zone: zone.name, account })
  if (explained === null) return withHeaders(failure('not_serving'), { 'retry-after': '1' })
  if ('explanation' in explained) return success(shownTo(call, explained.explanation))
  return failures([
    explained.elsewhere === 'zone'
      ? faultAt('/host', 'invalid', 'host', `must lead to the zone ${zone.name}, or to none`)
      : faultAt('/path', 'invalid', 'path', 'must name the account that owns the zone'),
  ])
}

/** Leaves out what the token may not see elsewhere either: origins, and gateways. */
function shownTo({ caller, account }: ZoneCall, explanation: Explanation): Explanation {
  const seesOrigins = permits(caller, 'Origins Read', account)
  const seesGateways = permits(caller, 'AI Gateway Read', account)
  return {
    ...explanation,
    ...(!seesOrigins && { pool: null, forward: null }),
    ...(!seesGateways && { gateway: null }),
  }
}
