// The operations of AI providers, for the document of the API.

import { json, type Operation, refusal } from '../schema/operation.ts'
import { named, page, success } from '../schema/schema.ts'

const tag = 'AI providers'
const providers = '/client/v4/accounts/{account_id}/ai-gateway/providers'

export const providerOperations: Readonly<Record<string, Operation>> = {
  [`GET ${providers}`]: {
    id: 'listProviders',
    tag,
    summary: 'List the AI providers of the configuration, and how they are doing',
    description:
      'They are shared by all accounts. No key is ever shown. The state is what the processes of this machine saw of the latest calls, of all accounts; `calls` is what the gateways of this account logged, on all machines.',
    response: json(page(named('Provider'))),
  },
  [`POST ${providers}/{provider_id}/test`]: {
    id: 'testProvider',
    tag,
    summary: 'Test an AI provider with one small request for each key',
    description:
      'A GET that runs no model, such as that of the list of models, with a time limit of 10 seconds. For 5 seconds, others get the same result.',
    response: json(success(named('ProviderTest'))),
    refusals: [refusal('no_such')],
  },
}
