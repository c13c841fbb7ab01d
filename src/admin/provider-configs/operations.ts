// The operations of keys of providers, for the document of the API.

import { json, type Operation, refusal } from '../schema/operation.ts'
import { pageQuery } from '../schema/query-schemas.ts'
import { named, page, success } from '../schema/schema.ts'
import { newProviderConfig } from './schemas.ts'

const tag = 'AI gateways'
const configs = '/client/v4/accounts/{account_id}/ai-gateway/gateways/{gateway_id}/provider_configs'
const config = json(success(named('ProviderConfig')))

export const providerConfigOperations: Readonly<Record<string, Operation>> = {
  [`POST ${configs}`]: {
    id: 'createProviderConfig',
    tag,
    summary: 'Set a key of a provider for the calls of an AI gateway',
    description:
      'It comes before the keys of the configuration, and is never shown again. Several keys with one alias are used in turn. To replace a key, add the new one and delete the old.',
    body: {
      schema: newProviderConfig,
      examples: {
        'A key of OpenAI': {
          provider_slug: 'openai',
          alias: 'production',
          default_config: true,
          secret: 'sk-proj-0123456789abcdef',
        },
      },
    },
    response: config,
    refusals: [refusal('no_such_provider'), refusal('too_many_provider_configs')],
  },
  [`GET ${configs}`]: {
    id: 'listProviderConfigs',
    tag,
    summary: 'List the keys of providers of an AI gateway',
    query: { page: pageQuery.page!, per_page: pageQuery.per_page! },
    response: json(page(named('ProviderConfig'))),
  },
  [`DELETE ${configs}/{config_id}`]: {
    id: 'deleteProviderConfig',
    tag,
    summary: 'Delete a key of a provider',
    description: 'No call uses it after a second.',
    response: config,
  },
}
