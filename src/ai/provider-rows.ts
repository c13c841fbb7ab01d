// What is known of each provider, one row each: pure data.

import type { ProviderConfig, ProviderName } from '../config/config.ts'

/** An API that a REST call can be sent on to unchanged. */
export type Endpoint = 'chat' | 'messages' | 'responses' | 'embeddings'

/** Whose way of telling errors, and of sending events, a provider or caller shares. */
export type Dialect = 'openai' | 'anthropic'

/** How a credential is written into a request. */
interface Credential {
  /** In lower case. */
  readonly keyField: string
  readonly keyPrefix: 'Bearer ' | ''
}

export interface ProviderRow extends Credential {
  /** `{resource}` stands for a resource that the configuration lists and callers name in the path or model. */
  readonly base: string
  /** What stands between the base and the path of a native call. */
  readonly nativeRoot: string
  /** What the provider's own SDK writes before each path although the base has it, so that it must not come twice; '' for nothing. */
  readonly sdkRoot: string
  readonly dialect: Dialect
  readonly endpoints: Readonly<Partial<Record<Endpoint, string>>>
  /** How the endpoints above want their credential, where native calls differ. */
  readonly restCredential: Credential | null
  /** Where callers may bring a credential of their own: fields in lower case, and a parameter of the query. */
  readonly credentialFields: readonly string[]
  readonly credentialParameter: string | null
  /** Added where the caller sent none. */
  readonly defaultFields: readonly (readonly [name: string, value: string])[]
  /** Whether a streamed chat may ask for its usage; without the question, one that may not tells it or never does. */
  readonly streamsUsage: boolean
  /** What models may begin with instead of the provider's name. */
  readonly aliases: readonly string[]
}

const bearer = { keyField: 'authorization', keyPrefix: 'Bearer ' } as const

const openaiLike = {
  ...bearer,
  nativeRoot: '',
  sdkRoot: '',
  dialect: 'openai',
  endpoints: { chat: '/chat/completions', responses: '/responses', embeddings: '/embeddings' },
  restCredential: null,
  credentialFields: ['authorization'],
  credentialParameter: null,
  defaultFields: [],
  streamsUsage: true,
  aliases: [],
} as const

const anthropicLike = {
  keyField: 'x-api-key',
  keyPrefix: '',
  nativeRoot: '',
  sdkRoot: '',
  dialect: 'anthropic',
  endpoints: { messages: '/v1/messages' },
  restCredential: null,
  credentialFields: ['x-api-key', 'authorization'],
  credentialParameter: null,
  defaultFields: [['anthropic-version', '2023-06-01']],
  streamsUsage: false,
  aliases: [],
} as const

export const providerRows = {
  openai: { ...openaiLike, base: 'https://api.openai.com/v1' },
  anthropic: { ...anthropicLike, base: 'https://api.anthropic.com' },
  'google-ai-studio': {
    ...openaiLike,
    base: 'https://generativelanguage.googleapis.com',
    endpoints: { chat: '/v1beta/openai/chat/completions', embeddings: '/v1beta/openai/embeddings' },
    keyField: 'x-goog-api-key',
    keyPrefix: '',
    restCredential: bearer,
    credentialFields: ['x-goog-api-key', 'authorization'],
    credentialParameter: 'key',
    aliases: ['google'],
  },
  mistral: {
    ...openaiLike,
    base: 'https://api.mistral.ai',
    endpoints: { chat: '/v1/chat/completions', embeddings: '/v1/embeddings' },
    // Always tells it, and refuses members that it does not know.
    streamsUsage: false,
    aliases: ['mistralai'],
  },
  groq: {
    ...openaiLike,
    base: 'https://api.groq.com/openai/v1',
    sdkRoot: '/openai/v1',
    endpoints: { chat: '/chat/completions', responses: '/responses' },
  },
  deepseek: {
    ...openaiLike,
    base: 'https://api.deepseek.com',
    endpoints: { chat: '/chat/completions' },
  },
  openrouter: {
    ...openaiLike,
    base: 'https://openrouter.ai/api',
    endpoints: { chat: '/v1/chat/completions', responses: '/v1/responses', embeddings: '/v1/embeddings' },
  },
  'azure-openai': {
    ...openaiLike,
    base: 'https://{resource}.openai.azure.com',
    nativeRoot: '/openai/deployments',
    endpoints: {
      chat: '/openai/v1/chat/completions',
      responses: '/openai/v1/responses',
      embeddings: '/openai/v1/embeddings',
    },
    keyField: 'api-key',
    keyPrefix: '',
    credentialFields: ['api-key', 'authorization'],
  },
  ollama: {
    ...openaiLike,
    base: 'http://127.0.0.1:11434',
    endpoints: { chat: '/v1/chat/completions', responses: '/v1/responses', embeddings: '/v1/embeddings' },
    aliases: ['@local'],
  },
} as const satisfies Record<ProviderName, ProviderRow>

/** Returns the row of a provider that only the configuration knows, from the API that it has; in which field it wants credentials is between it and its callers. */
export function customRow(speaks: ProviderConfig['speaks'], base: string): ProviderRow {
  const row = speaks === 'anthropic' ? anthropicLike : openaiLike
  return { ...row, base, credentialFields: ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'] }
}
