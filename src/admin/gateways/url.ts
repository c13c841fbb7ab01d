// The handler of the URL at which callers reach a provider.

import { isKnown } from '../../ai/providers/provider-rows.ts'
import type { Api, Call } from '../api/api-types.ts'
import { type ApiResponse, failure, success } from '../http/envelope.ts'
import { findGateway, noGateway } from './gateways.ts'

export async function getProviderUrl({ account, params }: Call, api: Api): Promise<ApiResponse> {
  const gateway = await findGateway(api.store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const provider = params.provider!
  if (!(await isReachable(provider, account, api))) return failure('no_such_provider', provider.slice(0, 64))
  const origin = api.aiOrigin?.() ?? null
  if (origin === null) return failure('no_ai_host')
  return success(`${origin}/v1/${account}/${gateway.id}/${provider}`)
}

async function isReachable(provider: string, account: string, { store, providers }: Api): Promise<boolean> {
  if (isKnown(provider) || provider === 'compat') return true
  if (!/^custom-[a-z0-9-]{1,57}$/.test(provider)) return false
  if (providers.hasModel(`${provider}/any`)) return true
  return (await store.customProviders.get(account, provider.slice('custom-'.length))) !== null
}
