// Handlers of the keys of providers that a gateway has of its own. No key is ever shown again.

import { newId } from '../../base/ids/id.ts'
import { sealKey } from '../../ai/providers/key-seal.ts'
import { isKnown } from '../../ai/providers/provider-rows.ts'
import { auditOf, type Resource } from '../../store/records/audit-entry.ts'
import type { Gateway, ProviderKey } from '../../store/records/records.ts'
import type { Api, Call } from '../api/api-types.ts'
import { findGateway, noGateway } from '../gateways/gateways.ts'
import { type ApiResponse, failure, failures, success } from '../http/envelope.ts'
import { Parameters } from '../http/query.ts'
import { isoTime, isoTimeOfUse, pageOfAll, type Revised, revise } from '../records/record-handlers.ts'
import { readProviderConfig } from './body.ts'

const maxProviderConfigs = 50

export async function createProviderConfig(call: Call, api: Api): Promise<ApiResponse> {
  const { store, secrets } = api
  const gateway = await findGateway(store, call.account, call.params.gateway_id!)
  if (gateway === null) return noGateway
  const read = readProviderConfig(call.body)
  if (!('secret' in read)) return failures(read)
  const { provider, alias, isDefault, secret } = read
  const url = await urlOf(provider, call, api)
  if (url === null) return failure('no_such_provider', provider)
  const id = newId()
  const key: ProviderKey = {
    id,
    provider,
    alias,
    isDefault,
    sealed: sealKey(secrets, secret, { gateway, key: { id, provider }, url }),
    end: secret.length < minShown ? '' : secret.slice(-4),
    modifiedAt: call.now,
  }
  const set = ['provider_slug', 'alias', 'default_config', 'secret']
  const revised = await change(call, api, current => {
    const keys = current.providerConfigs ?? []
    if (keys.length >= maxProviderConfigs) return failure('too_many_provider_configs', maxProviderConfigs)
    const audit = auditOf(call, 'create', resourceOf(key), set)
    return { record: { ...current, providerConfigs: [...keys, key] }, audit }
  })
  return 'record' in revised ? success(viewOf(gateway, key)) : revised
}

export async function listProviderConfigs(call: Call, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(call.query)
  const page = parameters.page()
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const gateway = await findGateway(store, call.account, call.params.gateway_id!)
  if (gateway === null) return noGateway
  return pageOfAll(gateway.providerConfigs ?? [], page, key => viewOf(gateway, key))
}

export async function deleteProviderConfig(call: Call, api: Api): Promise<ApiResponse> {
  let removed: ProviderKey | undefined
  const revised = await change(call, api, current => {
    const keys = current.providerConfigs ?? []
    removed = keys.find(({ id }) => id === call.params.config_id)
    if (removed === undefined) return failure('no_such', 'Provider config')
    const audit = auditOf(call, 'delete', resourceOf(removed))
    return { record: { ...current, providerConfigs: keys.filter(key => key !== removed) }, audit }
  })
  return 'record' in revised ? success(viewOf(revised.record, removed!)) : revised
}

/** The last characters of a shorter key would say too much of it. */
const minShown = 16

async function change(
  call: Call,
  { store, log }: Api,
  make: (current: Gateway) => Revised<Gateway>,
): Promise<Revised<Gateway>> {
  const gateway = await findGateway(store, call.account, call.params.gateway_id!)
  if (gateway === null) return noGateway
  return (await revise(store.gateways, call.account, gateway.id, make, log)) ?? noGateway
}

/** The address for which a key of the provider is sealed; null for an unknown provider. */
async function urlOf(provider: string, { account }: Call, { store, providers }: Api): Promise<string | null> {
  if (isKnown(provider) || providers.hasModel(`${provider}/any`)) return ''
  if (!provider.startsWith('custom-')) return null
  return (await store.customProviders.get(account, provider.slice('custom-'.length)))?.record.url ?? null
}

function resourceOf({ id, provider, alias }: ProviderKey): Resource {
  return { resourceKind: 'provider_config', resource: id, resourceName: `${provider} ${alias}` }
}

/** Shows a key in the shape of the published clients, and when it was last used. */
function viewOf({ id: gateway }: Gateway, { id, provider, alias, isDefault, end, ...key }: ProviderKey) {
  return {
    id,
    gateway_id: gateway,
    provider_slug: provider,
    alias,
    default_config: isDefault,
    secret_id: '',
    secret_preview: `…${end}`,
    last_used_at: key.usedAt === undefined ? null : isoTimeOfUse(key.usedAt, key.modifiedAt),
    modified_at: isoTime(key.modifiedAt),
  }
}
