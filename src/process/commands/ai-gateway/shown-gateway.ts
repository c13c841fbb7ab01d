// AI gateways in the form of the API, and how the command line names one.

import { isGatewayId } from '../../../ai/gateway-directory.ts'
import type { ApiClient } from '../api/api-client.ts'
import { withApi } from '../api/session.ts'
import type { Input } from '../input.ts'
import { complain } from '../../terminal/output.ts'

export interface ShownGateway {
  readonly id: string
  readonly authentication: boolean
  readonly collect_logs: boolean
  readonly log_management: number
  readonly log_management_strategy: string
  readonly rate_limiting_limit: number
  readonly rate_limiting_interval: number
  readonly rate_limiting_technique: string | null
  readonly rate_limiting_key: string
  readonly stream_usage: boolean
  readonly created_at: string
  readonly modified_at: string
}

export const gateways = '/ai-gateway/gateways'

/** Passes on the path of the gateway that the first argument names; 2 if that cannot be an id. */
export async function withGateway(
  input: Input,
  use: (api: ApiClient, path: string, id: string) => Promise<number>,
): Promise<number> {
  const [id = ''] = input.args
  const flaw = gatewayIdFlaw(id)
  return flaw === null ? withApi(input, api => use(api, `${gateways}/${id}`, id)) : complain(flaw)
}

/** Returns why a text cannot be the id of a gateway; null if it can. */
export function gatewayIdFlaw(id: string): string | null {
  return isGatewayId(id)
    ? null
    : 'the id of a gateway has 1 to 64 lower-case letters, digits, hyphens and underscores'
}
