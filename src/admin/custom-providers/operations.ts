// The operations of custom providers, for the document of the API.

import { json, type Operation, refusal } from '../schema/operation.ts'
import { pageQuery } from '../schema/query-schemas.ts'
import { about, named, oneOf, page, success, text } from '../schema/schema.ts'
import { changedCustomProvider, newCustomProvider } from './schemas.ts'

const tag = 'AI gateways'
const providers = '/client/v4/accounts/{account_id}/ai-gateway/custom-providers'
const provider = `${providers}/{slug}`
const one = json(success(named('CustomProvider')))
const choice = oneOf(['true', 'false'])

export const customProviderOperations: Readonly<Record<string, Operation>> = {
  [`POST ${providers}`]: {
    id: 'createCustomProvider',
    tag,
    summary: 'Add a provider that speaks the API of OpenAI',
    description:
      'Calls of the account name it as `custom-SLUG`. Connections to private addresses are refused, unless the configuration allows their network by `ai.custom_providers.allow_networks`.',
    body: {
      schema: newCustomProvider,
      examples: {
        'A server of the team': { name: 'Team', slug: 'team', base_url: 'https://llm.example/v1' },
      },
    },
    response: one,
    refusals: [refusal('custom_provider_taken'), refusal('too_many_custom_providers')],
  },
  [`GET ${providers}`]: {
    id: 'listCustomProviders',
    tag,
    summary: 'List the providers that the account has added',
    query: {
      ...pageQuery,
      search: about('Part of the name or the slug.', text),
      enable: choice,
      beta: choice,
    },
    response: json(page(named('CustomProvider'))),
  },
  [`GET ${provider}`]: { id: 'getCustomProvider', tag, summary: 'Show a custom provider', response: one },
  [`PATCH ${provider}`]: {
    id: 'updateCustomProvider',
    tag,
    summary: 'Change a custom provider',
    description: 'Slug and address stay as they are, since keys are sealed for them.',
    body: { schema: changedCustomProvider, examples: { 'Turn it off': { enable: false } } },
    response: one,
  },
  [`DELETE ${provider}`]: {
    id: 'deleteCustomProvider',
    tag,
    summary: 'Delete a custom provider',
    description:
      'No call reaches it after a second. Gateways keep their keys for it until these are deleted.',
    response: one,
  },
}
