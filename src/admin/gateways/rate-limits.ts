// The handler of the rate limit of an AI gateway, with the tokens and apps closest to it.

import { gatewayLimitName, gatewayLimitOf } from '../../limits/limit.ts'
import { joinNear } from '../../limits/near-keys.ts'
import { type ApiResponse, success } from '../http/envelope.ts'
import type { Api, Call } from '../api/api-types.ts'
import { useOf } from '../zones/rate-limits.ts'
import { findGateway, noGateway } from './gateways.ts'

/** Responds with the limit of a gateway as a list: empty if it has none. */
export async function listGatewayRateLimits(
  { account, params, now }: Call,
  { store, zones }: Api,
): Promise<ApiResponse> {
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const { rateLimit = null } = gateway
  if (rateLimit === null || rateLimit.limit === 0) return success([])
  const { technique, interval, limit: max, key = 'gateway' } = rateLimit
  const limit = gatewayLimitOf(gateway, technique, max, interval * 1000)
  const keys = joinNear(await zones.nearLimits([limit.name]))
  const nearest = keys.map(async near => ({
    key: partsOf(near.key),
    ...(await useOf(limit, near, store, now)),
  }))
  return success([
    {
      ...{ name: gatewayLimitName, limit: max, window: technique, period: interval },
      key: key === 'gateway' ? [] : [key],
      nearest: await Promise.all(nearest),
    },
  ])
}

/** Reads the key of a count; empty for a common one, or for calls without a token. */
function partsOf(text: string) {
  const [, kind, value] = /^(app|token) (.+)$/.exec(text) ?? []
  return value === undefined ? [] : [{ by: kind === 'app' ? 'app' : 'token_id', value }]
}
