// The known facts of each provider, one row each: pure data.

import {
  type PlainApi,
  type PlainOperation,
  plainApis,
  plainOperations,
  type ProviderApi,
  type ProviderConfig,
  type ProviderName,
  providerApis,
} from '../../config/model/config.ts'

export type Endpoint = ProviderApi | PlainOperation

export type Dialect = 'openai' | 'anthropic'

interface Credential {
  /** In lower case. */
  readonly keyField: string
  readonly keyPrefix: 'Bearer ' | ''
}

export interface ProviderRow extends Credential {
  /** `{resource}` is listed in the configuration, and named by callers in the path or model. */
  readonly base: string
  readonly nativeRoot: string
  /** The cheapest GET that shows whether a key is valid, without running a model. */
  readonly check: string
  /** The list of models that can be called; null for none. */
  readonly list: string | null
  /** Added by the provider's SDK before each path, although the base has it; '' for the version alone. */
  readonly sdkRoot: string
  readonly dialect: Dialect
  readonly endpoints: Readonly<Partial<Record<Endpoint, string>>>
  readonly lacks: readonly ProviderApi[]
  readonly restCredential: Credential | null
  /** In lower case; where callers may send a credential of their own. */
  readonly credentialFields: readonly string[]
  readonly credentialParameter: string | null
  readonly defaultFields: readonly (readonly [name: string, value: string])[]
  /** Whether a streamed chat may request its usage; other providers report usage always or never. */
  readonly streamsUsage: boolean
  readonly aliases: readonly string[]
  /** Of a provider with several places, of which calls may name one; the first configured is usual. */
  readonly place: Place | null
  /** Whether streams may be in frames of AWS. */
  readonly hasFrames: boolean
  /** Precedes a model that is written without its publisher. */
  readonly publisher: string
  /** At a cloud, models of Claude are called by an API of their own. */
  readonly claude: Claude | null
  /** The address of one that an account has added; null for others. */
  readonly ownUrl: string | null
}

/** Where a cloud is called. */
export interface Place {
  readonly setting: string
  /** Its group is the name of the place in the path of a native call. */
  readonly inPath: RegExp
  /** Whether the path of a native call begins with the place, which the provider does not know. */
  readonly isPrefix: boolean
  /** The bases of places that have no host of their own name. */
  readonly everywhere: Readonly<Record<string, string>>
  /** Paths of native calls with a configured key; its group is the project. */
  readonly permitted: RegExp
}

interface Claude {
  /** Its groups are the name there and, if the date is written in another way there, the date. */
  readonly isModel: RegExp
  readonly path: string
  readonly methods: readonly [whole: string, streamed: string]
  /** Of the API, in the body. */
  readonly version: string
  /** Members of the body that the path stands for. */
  readonly leavesOut: readonly string[]
  /** Values of anthropic-beta that it takes, in the body; null for all, in the field. */
  readonly betas: readonly string[] | null
}

export const bearer = { keyField: 'authorization', keyPrefix: 'Bearer ' } as const

/** The paths of calls that are not translated, by what they have in common. */
function plainPaths(
  base: string,
  ...apis: readonly (PlainApi | PlainOperation)[]
): Partial<Record<PlainOperation, string>> {
  const own = plainOperations.filter(operation =>
    apis.some(api => operation === api || operation.startsWith(`${api}/`)),
  )
  return Object.fromEntries(own.map(operation => [operation, `${base}/${operation}`]))
}

const openaiLike = {
  ...bearer,
  nativeRoot: '',
  check: '/models',
  list: '/models',
  sdkRoot: '',
  dialect: 'openai',
  endpoints: { chat: '/chat/completions', responses: '/responses', embeddings: '/embeddings' },
  lacks: [],
  restCredential: null,
  credentialFields: ['authorization'],
  credentialParameter: null,
  defaultFields: [],
  streamsUsage: true,
  aliases: [],
  place: null,
  hasFrames: false,
  publisher: '',
  claude: null,
  ownUrl: null,
} as const

const anthropicLike = {
  keyField: 'x-api-key',
  keyPrefix: '',
  nativeRoot: '',
  check: '/v1/models',
  list: '/v1/models?limit=1000',
  sdkRoot: '',
  dialect: 'anthropic',
  endpoints: { messages: '/v1/messages' },
  lacks: ['responses', 'embeddings'],
  restCredential: null,
  credentialFields: ['x-api-key', 'authorization'],
  credentialParameter: null,
  defaultFields: [['anthropic-version', '2023-06-01']],
  streamsUsage: false,
  aliases: [],
  place: null,
  hasFrames: false,
  publisher: '',
  claude: null,
  ownUrl: null,
} as const

const ofVertex = '/v1/projects/{project}/locations/{resource}'

export const providerRows = {
  openai: {
    ...openaiLike,
    base: 'https://api.openai.com/v1',
    endpoints: { ...openaiLike.endpoints, ...plainPaths('', ...plainApis) },
    lacks: ['messages'],
  },
  anthropic: { ...anthropicLike, base: 'https://api.anthropic.com' },
  'google-ai-studio': {
    ...openaiLike,
    base: 'https://generativelanguage.googleapis.com',
    check: '/v1beta/models',
    list: '/v1beta/openai/models',
    endpoints: {
      chat: '/v1beta/openai/chat/completions',
      embeddings: '/v1beta/openai/embeddings',
      ...plainPaths('/v1beta/openai', 'images/generations'),
    },
    lacks: ['messages', 'responses'],
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
    check: '/v1/models',
    list: '/v1/models',
    endpoints: {
      chat: '/v1/chat/completions',
      embeddings: '/v1/embeddings',
      ...plainPaths('/v1', 'audio/transcriptions', 'moderations'),
    },
    lacks: ['messages', 'responses'],
    // Always reports it, and rejects unknown members.
    streamsUsage: false,
    aliases: ['mistralai'],
  },
  groq: {
    ...openaiLike,
    base: 'https://api.groq.com/openai/v1',
    sdkRoot: '/openai/v1',
    endpoints: { chat: '/chat/completions', responses: '/responses', ...plainPaths('', 'audio') },
    lacks: ['messages', 'embeddings'],
  },
  deepseek: {
    ...openaiLike,
    base: 'https://api.deepseek.com',
    endpoints: { chat: '/chat/completions' },
    lacks: ['messages', 'responses', 'embeddings'],
  },
  openrouter: {
    ...openaiLike,
    base: 'https://openrouter.ai/api',
    sdkRoot: '/api',
    // Listing the models needs no key.
    check: '/v1/key',
    list: '/v1/models',
    endpoints: {
      chat: '/v1/chat/completions',
      responses: '/v1/responses',
      embeddings: '/v1/embeddings',
      ...plainPaths('/v1', 'completions'),
    },
  },
  'azure-openai': {
    ...openaiLike,
    base: 'https://{resource}.openai.azure.com',
    nativeRoot: '/openai/deployments',
    sdkRoot: '/openai/deployments',
    check: '/openai/models?api-version=2024-10-21',
    // It has models that are not deployed, too.
    list: null,
    endpoints: {
      chat: '/openai/v1/chat/completions',
      responses: '/openai/v1/responses',
      embeddings: '/openai/v1/embeddings',
      ...plainPaths('/openai/v1', 'completions', 'images/generations', 'images/edits', 'audio'),
    },
    keyField: 'api-key',
    keyPrefix: '',
    credentialFields: ['api-key', 'authorization'],
  },
  'google-vertex-ai': {
    ...openaiLike,
    base: 'https://{resource}-aiplatform.googleapis.com',
    check: '/v1/publishers/google/models/gemini-2.5-flash',
    list: null,
    endpoints: { chat: `${ofVertex}/endpoints/openapi/chat/completions` },
    place: {
      setting: 'locations',
      inPath: /^\/v1(?:beta1)?\/projects\/[^/?]+\/locations\/([^/?]+)\//,
      isPrefix: false,
      everywhere: { global: 'https://aiplatform.googleapis.com' },
      permitted:
        /^\/v1(?:beta1)?\/projects\/([^/?]+)\/locations\/[^/?]+\/(?:publishers\/[^/?]+\/models\/|endpoints\/(?:openapi\/|[^/?:]+:)|cachedContents)/,
    },
    publisher: 'google/',
    claude: {
      isModel: /^(?:anthropic\/)?(claude-.+?)(?:[-@](\d{8}))?$/,
      path: `${ofVertex}/publishers/anthropic/models/{model}:{method}`,
      methods: ['rawPredict', 'streamRawPredict'],
      version: 'vertex-2023-10-16',
      leavesOut: ['model', 'anthropic_version'],
      betas: null,
    },
  },
  'aws-bedrock': {
    ...openaiLike,
    base: 'https://bedrock-runtime.{resource}.amazonaws.com',
    check: '/async-invoke?maxResults=1',
    list: null,
    endpoints: { chat: '/openai/v1/chat/completions', responses: '/openai/v1/responses' },
    hasFrames: true,
    place: {
      setting: 'regions',
      inPath: /^\/bedrock-runtime\/([^/?]+)(?=\/)/,
      isPrefix: true,
      everywhere: {
        'cn-north-1': 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn',
        'cn-northwest-1': 'https://bedrock-runtime.cn-northwest-1.amazonaws.com.cn',
      },
      permitted: /^\/(?:model\/[^/?]+\/(?:invoke|converse|count-tokens)|openai\/v1\/)/,
    },
    claude: {
      isModel: /^(.*\banthropic\.claude-.+)/,
      path: '/model/{model}/{method}',
      methods: ['invoke', 'invoke-with-response-stream'],
      version: 'bedrock-2023-05-31',
      leavesOut: ['model', 'anthropic_version', 'stream'],
      betas: [
        'computer-use-2024-10-22',
        'computer-use-2025-01-24',
        'computer-use-2025-11-24',
        'context-1m-2025-08-07',
        'context-management-2025-06-27',
        'dev-full-thinking-2025-05-14',
        'effort-2025-11-24',
        'fine-grained-tool-streaming-2025-05-14',
        'interleaved-thinking-2025-05-14',
        'output-128k-2025-02-19',
        'token-efficient-tools-2025-02-19',
        'tool-examples-2025-10-29',
        'tool-search-tool-2025-10-19',
      ],
    },
  },
  ollama: {
    ...openaiLike,
    base: 'http://127.0.0.1:11434',
    check: '/v1/models',
    list: '/v1/models',
    endpoints: {
      chat: '/v1/chat/completions',
      messages: '/v1/messages',
      responses: '/v1/responses',
      embeddings: '/v1/embeddings',
      ...plainPaths('/v1', 'completions'),
    },
    aliases: ['@local'],
  },
} as const satisfies Record<ProviderName, ProviderRow>

export function isKnown(name: string): name is ProviderName {
  return Object.hasOwn(providerRows, name)
}

/** For a custom provider whose configuration lists none. */
const usualApis = { openai: ['chat', 'embeddings'], anthropic: ['messages'] } as const
const paths = {
  chat: '/chat/completions',
  messages: '/messages',
  responses: '/responses',
  embeddings: '/embeddings',
} as const satisfies Record<ProviderApi, string>

export function customRow({
  speaks,
  apis,
  url,
}: Pick<ProviderConfig, 'speaks' | 'apis' | 'url'>): ProviderRow {
  const row = speaks === 'anthropic' ? anthropicLike : openaiLike
  // The base of an OpenAI-compatible server includes the version, as for its SDK.
  const version = speaks === 'anthropic' ? '/v1' : ''
  const own: readonly (ProviderApi | PlainApi)[] = apis ?? usualApis[speaks]
  const plain = plainApis.filter(api => own.includes(api))
  const translated = providerApis.filter(api => own.includes(api))
  return {
    ...row,
    base: url!,
    endpoints: {
      ...Object.fromEntries(translated.map(api => [api, version + paths[api]])),
      ...plainPaths(version, ...plain),
    },
    lacks: providerApis.filter(api => !own.includes(api)),
    credentialFields: ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'],
  }
}

/** A provider that an account has added: it may have any API, and takes the calls that it refuses. */
export function accountRow(
  config: Pick<ProviderConfig, 'speaks' | 'apis' | 'url'>,
  headers: readonly string[],
): ProviderRow {
  const defaultFields: [string, string][] = []
  for (let i = 0; i < headers.length; i += 2) defaultFields.push([headers[i]!.toLowerCase(), headers[i + 1]!])
  return { ...customRow(config), lacks: [], defaultFields, ownUrl: config.url }
}

/** As callers and their SDKs write them below the base. */
export function pathsOf(api: Endpoint): readonly [short: string, versioned: string] {
  const path = api in paths ? paths[api as ProviderApi] : `/${api}`
  return [path, `/v1${path}`]
}
