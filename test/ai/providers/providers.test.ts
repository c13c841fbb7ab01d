import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Provider, Providers } from '../../../src/ai/providers/providers.ts'
import { type ProviderConfig, providerNames } from '../../../src/config/model/config.ts'
import { usualTransport } from '../../../src/config/model/pool-config.ts'

const tls = { verify: true, serverName: null, ca: null, identity: null }

function configured(name: ProviderConfig['name'], facts: Partial<ProviderConfig> = {}): ProviderConfig {
  return {
    name,
    url: null,
    keys: [],
    keySources: [],
    keyVariables: [],
    speaks: 'openai',
    resources: [],
    project: null,
    identity: null,
    streamUsage: null,
    apis: null,
    models: null,
    tls,
    transport: usualTransport,
    proxy: null,
    ...facts,
  }
}

/** The URL that a native call reaches, or the message of its refusal. */
function reached(providers: Providers, name: string, path: string): string {
  const call = providers.native(name, path)
  return 'error' in call ? call.faults[0]!.message : call.provider.base.origin + call.path
}

describe('a native call', () => {
  const providers = new Providers({
    providers: [
      configured('azure-openai', { resources: ['east', 'west'] }),
      configured('custom-plain', { url: 'http://127.0.0.1:9000/v1' }),
      configured('custom-below', { url: 'http://127.0.0.1:9000/lab/v2beta1' }),
      configured('custom-api', { url: 'http://127.0.0.1:9000/api' }),
    ],
  })
  const calls = [
    ['openai', '/chat/completions', 'https://api.openai.com/v1/chat/completions'],
    ['openai', '/v1/responses', 'https://api.openai.com/v1/responses'],
    ['openai', '/v1/v1/responses?a=/v1/v1/', 'https://api.openai.com/v1/responses?a=/v1/v1/'],
    ['openai', '/v10/x', 'https://api.openai.com/v1/v10/x'],
    ['openai', '/videos/v1/v1/x', 'https://api.openai.com/v1/videos/v1/v1/x'],
    ['anthropic', '/v1/v1/messages?beta=true', 'https://api.anthropic.com/v1/messages?beta=true'],
    [
      'google-ai-studio',
      '/v1beta/v1beta/models/gemini-2.5-flash:generateContent',
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent',
    ],
    ['google-ai-studio', '/v1/v1beta/models', 'https://generativelanguage.googleapis.com/v1/v1beta/models'],
    ['mistral', '/v1/v1/v1/chat/completions', 'https://api.mistral.ai/v1/chat/completions'],
    ['groq', '/v1/chat/completions', 'https://api.groq.com/openai/v1/chat/completions'],
    ['groq', '/openai/v1/v1/chat/completions', 'https://api.groq.com/openai/v1/chat/completions'],
    ['openrouter', '/api/v1/chat/completions', 'https://openrouter.ai/api/v1/chat/completions'],
    ['openrouter', '/api/v1/v1/chat/completions', 'https://openrouter.ai/api/v1/chat/completions'],
    ['custom-plain', '/v1/chat/completions', 'http://127.0.0.1:9000/v1/chat/completions'],
    ['custom-below', '/v2beta1/chat/completions', 'http://127.0.0.1:9000/lab/v2beta1/chat/completions'],
    ['custom-below', '/v1/models', 'http://127.0.0.1:9000/lab/v2beta1/v1/models'],
    ['custom-api', '/api/chat', 'http://127.0.0.1:9000/api/api/chat'],
    ['openai', '/', 'https://api.openai.com/v1/'],
    ['anthropic', '/v1/messages?beta=true', 'https://api.anthropic.com/v1/messages?beta=true'],
    [
      'google-ai-studio',
      '/v1beta/models/gemini-2.5-flash:generateContent?alt=sse',
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent?alt=sse',
    ],
    ['mistral', '/v1/chat/completions', 'https://api.mistral.ai/v1/chat/completions'],
    ['mistral', '/chat/completions?a', 'https://api.mistral.ai/v1/chat/completions?a'],
    ['mistral', '/fim/completions', 'https://api.mistral.ai/fim/completions'],
    ['anthropic', '/messages?beta=true', 'https://api.anthropic.com/v1/messages?beta=true'],
    ['ollama', '/responses', 'http://127.0.0.1:11434/v1/responses'],
    ['groq', '/chat/completions', 'https://api.groq.com/openai/v1/chat/completions'],
    ['groq', '/openai/v1/chat/completions', 'https://api.groq.com/openai/v1/chat/completions'],
    ['groq', '/openai/v12/models', 'https://api.groq.com/openai/v1/openai/v12/models'],
    ['deepseek', '/chat/completions', 'https://api.deepseek.com/chat/completions'],
    ['openrouter', '/v1/chat/completions', 'https://openrouter.ai/api/v1/chat/completions'],
    [
      'azure-openai',
      '/east/gpt4/chat/completions?api-version=2024-10-21',
      'https://east.openai.azure.com/openai/deployments/gpt4/chat/completions?api-version=2024-10-21',
    ],
    ['azure-openai', '/west/x', 'https://west.openai.azure.com/openai/deployments/x'],
    ['ollama', '/api/chat', 'http://127.0.0.1:11434/api/chat'],
    ['custom-plain', '/models', 'http://127.0.0.1:9000/v1/models'],
    [
      'openai',
      '/files/a%2Fb/.well-known/%7e//x?y=../..',
      'https://api.openai.com/v1/files/a%2Fb/.well-known/%7e//x?y=../..',
    ],
  ] as const
  for (const [name, path, url] of calls) {
    test(`of ${name} with ${path} reaches ${url}`, () => {
      equal(reached(providers, name, path), url)
    })
  }

  test('with a version of many digits takes no long time', () => {
    const path = `/v${'1'.repeat(16_000)}/x`
    const { user } = process.threadCpuUsage()
    equal(reached(providers, 'openai', path), `https://api.openai.com/v1${path}`)
    const spent = (process.threadCpuUsage().user - user) / 1_000
    ok(spent < 100, `${spent} ms`)
  })

  test('goes to the URL of the configuration instead of the default, path included', () => {
    const url = 'http://127.0.0.1:9000/base'
    const moved = new Providers({
      providers: [
        configured('openai', { url }),
        configured('google-ai-studio', { url }),
        configured('azure-openai', { url, resources: ['east'] }),
      ],
    })
    equal(reached(moved, 'openai', '/chat/completions'), `${url}/chat/completions`)
    equal(reached(moved, 'google-ai-studio', '/v1beta/models'), `${url}/v1beta/models`)
    equal(reached(moved, 'azure-openai', '/east/d/x'), `${url}/openai/deployments/d/x`)
  })

  test('is refused for an unknown provider, and for a resource that is not listed', () => {
    const refused = [
      ['custom-other', '/x'],
      ['constructor', '/x'],
      ['azure-openai', '/other/d/x'],
      ['azure-openai', '/east%2Fd/x'],
      ['azure-openai', '/'],
      ['azure-openai', '/east.evil.test/d/x'],
    ] as const
    for (const [name, path] of refused) {
      const call = providers.native(name, path)
      ok('error' in call)
      equal(call.error, 'not_found')
      equal(call.faults[0]!.code, 7003)
    }
  })

  const climbing = [
    '/..',
    '/../x',
    '/a/..',
    '/.',
    '/%2e%2E/x',
    '/.%2e',
    '/a%2f..%2fb',
    '/a\\..\\b',
    '/%5c..',
    '/..;x/y',
    '/..?a',
  ]
  for (const path of climbing) {
    test(`is refused when its path ${path} could leave the base path`, () => {
      equal(reached(providers, 'openai', path), 'The path must not contain dot segments')
    })
  }

  test('never leaves the base path as a URL parser sees it', () => {
    const piece = fc.constantFrom('/', '\\', '.', '..', '%2e', '%2E', '%2f', '%5c', 'a', ';', '?')
    fc.assert(
      fc.property(fc.array(piece), pieces => {
        const call = providers.native('openai', `/${pieces.join('')}`)
        if ('error' in call) return
        ok(new URL(`https://api.openai.com${call.path}`).pathname.startsWith('/v1/'))
        ok(call.path.endsWith(pieces.join('')))
      }),
    )
  })

  test('is told from the one before by its provider and by its path', () => {
    const [first, second] = ['/v1/chat/completions', '/v1/embeddings']
    for (const path of [first, second, first]) {
      equal(reached(providers, 'openai', path), `https://api.openai.com${path}`)
      equal(reached(providers, 'mistral', path), `https://api.mistral.ai${path}`)
    }
    const known = providers.native('openai', first)
    equal(providers.native('openai', first), known)
    ok('error' in providers.native('nobody', first))
    ok('error' in providers.native('openai', '/../x'))
  })
})

describe('an API that a provider has not', () => {
  const lab = { url: 'http://127.0.0.1:9000/v1' }
  const providers = new Providers({
    providers: [
      configured('custom-usual', lab),
      configured('custom-modern', { ...lab, apis: ['chat', 'responses', 'messages'] }),
      configured('custom-anthropic', { url: 'http://127.0.0.1:9000', speaks: 'anthropic' }),
      configured('groq', { url: 'http://127.0.0.1:9000' }),
    ],
  })
  const hint = (name: string) => `: if it has one, list it in ai.providers.${name}.apis`
  const refused = [
    ['custom-usual', '/responses', `custom-usual has no known API for responses${hint('custom-usual')}`],
    [
      'custom-usual',
      '/v1/responses?a=b',
      `custom-usual has no known API for responses${hint('custom-usual')}`,
    ],
    ['custom-usual', '/v1/messages', `custom-usual has no known API for messages${hint('custom-usual')}`],
    ['custom-modern', '/embeddings', `custom-modern has no known API for embeddings${hint('custom-modern')}`],
    [
      'custom-anthropic',
      '/v1/chat/completions',
      `custom-anthropic has no known API for chat${hint('custom-anthropic')}`,
    ],
    [
      'custom-anthropic',
      '/responses',
      `custom-anthropic has no known API for responses${hint('custom-anthropic')}`,
    ],
    ['openai', '/v1/messages', 'openai has no known API for messages'],
    ['anthropic', '/v1/responses', 'anthropic has no known API for responses'],
    ['mistral', '/v1/responses', 'mistral has no known API for responses'],
    ['deepseek', '/v1/embeddings', 'deepseek has no known API for embeddings'],
  ] as const
  for (const [name, path, message] of refused)
    test(`is refused by name on native routes (${name}${path})`, () => {
      const call = providers.native(name, path)
      ok('error' in call)
      equal(call.error, 'not_found')
      equal(call.faults[0]!.message, message)
    })

  const passed = [
    ['custom-usual', '/chat/completions'],
    ['custom-usual', '/responses/resp_1'],
    ['custom-usual', '/x/responses'],
    ['custom-usual', '/threads/t/messages'],
    ['custom-modern', '/responses'],
    ['custom-modern', '/v1/messages'],
    ['openai', '/threads/t/messages'],
    ['openai', '/responses'],
    ['anthropic', '/v1/chat/completions'],
    ['deepseek', '/anthropic/v1/messages'],
    // What is known of a provider may not hold for a server in its place.
    ['groq', '/embeddings'],
  ] as const
  for (const [name, path] of passed)
    test(`is not seen in ${name}${path}`, () => ok(!('error' in providers.native(name, path))))

  test('is said by the configuration of a custom provider, where it says it', () => {
    const endpoints = (name: string) => providers.model(`${name}/m`)!.provider.endpoints
    deepEqual(endpoints('custom-usual'), { chat: '/v1/chat/completions', embeddings: '/v1/embeddings' })
    deepEqual(endpoints('custom-modern'), {
      chat: '/v1/chat/completions',
      responses: '/v1/responses',
      messages: '/v1/messages',
    })
    deepEqual(endpoints('custom-anthropic'), { messages: '/v1/messages' })
  })
})

describe('a model', () => {
  const providers = new Providers({
    providers: [
      configured('azure-openai', { resources: ['east'] }),
      configured('custom-mine', { url: 'https://llm.test', speaks: 'anthropic' }),
    ],
  })
  const models = [
    ['openai/gpt-4o', 'openai', 'gpt-4o'],
    ['anthropic/claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5'],
    ['google/gemini-2.5-flash', 'google-ai-studio', 'gemini-2.5-flash'],
    ['google-ai-studio/gemini-2.5-flash', 'google-ai-studio', 'gemini-2.5-flash'],
    ['mistralai/mistral-large-latest', 'mistral', 'mistral-large-latest'],
    ['mistral/mistral-large-latest', 'mistral', 'mistral-large-latest'],
    ['groq/meta-llama/llama-4-scout', 'groq', 'meta-llama/llama-4-scout'],
    ['openrouter/a/b', 'openrouter', 'a/b'],
    ['ollama/llama3.2:1b', 'ollama', 'llama3.2:1b'],
    ['@local/llama3.2:1b', 'ollama', 'llama3.2:1b'],
    ['azure-openai/east/my-gpt', 'azure-openai', 'my-gpt'],
    ['custom-mine/x', 'custom-mine', 'x'],
  ] as const
  for (const [text, provider, name] of models) {
    test(`${text} is ${name} of ${provider}`, () => {
      const model = providers.model(text)
      equal(model?.provider.name, provider)
      equal(model?.name, name)
    })
  }

  const unknown = [
    '',
    '/',
    'gpt-4o',
    '/gpt-4o',
    'openai/',
    'OpenAI/x',
    '@cf/x',
    'azure-openai/my-gpt',
    'azure-openai/west/x',
    'azure-openai/east/',
    'custom-other/x',
  ]
  for (const name of unknown) {
    test(`${JSON.stringify(name)} is none`, () => {
      equal(providers.model(name), null)
    })
  }
})

describe('a provider', () => {
  const providers = new Providers({
    providers: [
      configured('anthropic', { keys: ['k'] }),
      configured('azure-openai', { resources: ['east', 'west'] }),
      configured('google-vertex-ai', { resources: ['global', 'europe-west4'], project: 'acme' }),
      configured('aws-bedrock', { resources: ['us-east-1'] }),
      configured('custom-a', { url: 'https://a.test', speaks: 'anthropic' }),
      configured('custom-o', { url: 'https://o.test/v1/' }),
    ],
  })

  test('exists for each known name, for each resource and for each custom one', () => {
    const named = (name: string) => providers.all.filter(provider => provider.name === name).length
    for (const name of providerNames) ok(named(name) > 0, name)
    equal(named('azure-openai'), 2)
    equal(named('custom-a') + named('custom-o'), 2)
  })

  test('that is custom has the paths of the API that it speaks', () => {
    const speaks = (author: string) => providers.model(`${author}/m`)!.provider
    deepEqual(speaks('custom-a').endpoints, { messages: '/v1/messages' })
    equal(speaks('custom-a').keyField, 'x-api-key')
    deepEqual(speaks('custom-o').endpoints, { chat: '/v1/chat/completions', embeddings: '/v1/embeddings' })
  })

  test('keeps the keys and the settings of the configuration', () => {
    const { provider } = providers.native('anthropic', '/v1/messages') as { provider: Provider }
    deepEqual(provider.keys, ['k'])
    equal(provider.config?.name, 'anthropic')
  })

  test('of Google takes a key in its own field natively, and as a bearer token where it speaks like OpenAI', () => {
    const { provider: native } = providers.native('google-ai-studio', '/x') as { provider: Provider }
    const { provider: rest } = providers.model('google/x')!
    deepEqual([native.keyField, native.keyPrefix], ['x-goog-api-key', ''])
    deepEqual([rest.keyField, rest.keyPrefix], ['authorization', 'Bearer '])
    equal(rest.endpoints.chat, '/v1beta/openai/chat/completions')
  })

  test('lists its own key field among those in which callers may bring a credential', () => {
    for (const { keyField, credentialFields } of providers.all) ok(credentialFields.includes(keyField))
  })
})

describe('a provider of several locations', () => {
  const providers = new Providers({
    providers: [configured('google-vertex-ai', { resources: ['global', 'europe-west4'], project: 'acme' })],
  })
  const paths = (name: string) => {
    const found = providers.model(`google-vertex-ai/${name}`)
    return (
      found && [found.provider.base.origin, found.name, ...Object.entries(found.provider.endpoints).flat()]
    )
  }
  const of = (location: string) => `/v1/projects/acme/locations/${location}`

  test('is called at the first one, unless a model names another', () => {
    const chat = '/endpoints/openapi/chat/completions'
    const base = 'https://aiplatform.googleapis.com'
    const short = paths('gemini-2.5-flash')
    deepEqual(short, [base, 'google/gemini-2.5-flash', 'chat', `${of('global')}${chat}`])
    deepEqual(paths('google/gemini-2.5-flash'), short)
    deepEqual(paths('global/gemini-2.5-flash'), short)
    deepEqual(paths('europe-west4/meta/llama'), [
      'https://europe-west4-aiplatform.googleapis.com',
      'meta/llama',
      'chat',
      `${of('europe-west4')}${chat}`,
    ])
    equal(paths('europe-west4/'), null)
    equal(paths(''), null)
  })

  test('has the date of a model of Claude behind an @, as Anthropic has it behind a hyphen', () => {
    for (const name of ['claude-haiku-4-5-20251001', 'anthropic/claude-haiku-4-5@20251001'])
      equal(paths(name)![1], 'claude-haiku-4-5@20251001')
    equal(paths('claude-haiku-4-5')![1], 'claude-haiku-4-5')
  })

  test('has a path of its own for each model of Claude', () => {
    deepEqual(paths('anthropic/claude-haiku-4-5@20251001'), [
      'https://aiplatform.googleapis.com',
      'claude-haiku-4-5@20251001',
      'messages',
      `${of('global')}/publishers/anthropic/models/{model}:{method}`,
    ])
  })
})

describe('a provider of several regions', () => {
  const providers = new Providers({
    providers: [configured('aws-bedrock', { resources: ['us-east-1', 'cn-north-1'] })],
  })

  test('leaves the region out of the path of a native call', () => {
    const call = providers.native('aws-bedrock', '/bedrock-runtime/cn-north-1/model/a%3A0/invoke?x=1')
    ok(!('error' in call))
    deepEqual(
      [call.provider.base.origin, call.path, call.withoutCredential],
      ['https://bedrock-runtime.cn-north-1.amazonaws.com.cn', '/model/a%3A0/invoke?x=1', null],
    )
  })

  test('has models with colons, prefixes and slashes', () => {
    const found = (name: string) => {
      const { provider, name: model } = providers.model(`aws-bedrock/${name}`)!
      return [provider.resource, model, provider.dialect]
    }
    deepEqual(found('eu.anthropic.claude-a-v1:0'), ['us-east-1', 'eu.anthropic.claude-a-v1:0', 'anthropic'])
    deepEqual(found('cn-north-1/amazon.nova'), ['cn-north-1', 'amazon.nova', 'openai'])
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-a-v1:0'
    deepEqual(found(arn), ['us-east-1', arn, 'anthropic'])
  })
})
