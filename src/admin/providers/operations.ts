// The operations of AI providers, for the document of the API.

import { many, one, refusal, tagged } from '../schema/operation.ts'

const providers = '/client/v4/accounts/{account_id}/ai-gateway/providers'

export const providerOperations = tagged('AI providers', {
  [`GET ${providers}`]: {
    id: 'listProviders',
    summary: 'List the AI providers of the configuration, and how they are doing',
    description:
      'They are shared by all accounts. No key is ever shown. The state is what the processes of this machine saw of the latest calls, of all accounts; `calls` is what the gateways of this account logged, on all machines.',
    response: many('Provider'),
  },
  [`POST ${providers}/{provider_id}/test`]: {
    id: 'testProvider',
    summary: 'Test an AI provider with one small request for each key',
    description:
      'A GET that runs no model, such as that of the list of models, with a time limit of 10 seconds. For 5 seconds, others get the same result.',
    response: one('ProviderTest'),
    refusals: [refusal('no_such')],
  },
})
