// What is known of each provider, one row each: pure data.

import type { ProviderConfig, ProviderName } from '../config/config.ts'

/** An API that a REST call can be sent on to unchanged. */
export type Endpoint = 'chat' | 'messages' | 'responses' | 'embeddings'

/** Whose format of errors and events a provider or caller uses. */
export type Dialect = 'openai' | 'anthropic'

/** How a credential is written into a request. */
interface Credential {
  /** In lower case. */
  readonly keyField: string
  readonly keyPrefix: 'Bearer ' | ''
}

export interface ProviderRow extends Credential {
  /** `{resource}` is a resource that the configuration lists and callers name in the path or model. */
  readonly base: string
  /** What comes between the base and the path of a native call. */
  readonly nativeRoot: string
  /** What the provider's own SDK adds before each path although the base contains it, so that it must not be duplicated; '' for no more than the version. */
  readonly sdkRoot: string
  readonly dialect: Dialect
  readonly endpoints: Readonly<Partial<Record<Endpoint, string>>>
  /** How the endpoints above expect their credential, where native calls differ. */
  readonly restCredential: Credential | null
  /** Where callers may send a credential of their own: fields in lower case, and a query parameter. */
  readonly credentialFields: readonly string[]
  readonly credentialParameter: string | null
  /** Added where the caller sent none. */
  readonly defaultFields: readonly (readonly [name: string, value: string])[]
  /** Whether a streamed chat may request its usage; a provider where it may not reports usage always or never. */
  readonly streamsUsage: boolean
  /** Prefixes of model names that imply the provider. */
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
    // Always reports it, and refuses unknown members.
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
    sdkRoot: '/api',
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

/** Returns the row of a provider that only the configuration knows, from the API that it speaks; which field it expects credentials in is left to its callers. */
export function customRow(speaks: ProviderConfig['speaks'], base: string): ProviderRow {
  const row = speaks === 'anthropic' ? anthropicLike : openaiLike
  return { ...row, base, credentialFields: ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'] }
}
