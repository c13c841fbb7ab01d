import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isAmongAiRoutes, isBaseOfCalls, isShortRoute, parseAiTarget } from '../../src/ai/target.ts'
import { anyCharacter } from '../help/any-text.ts'

const account = '0123456789abcdef0123456789abcdef'
const rest = `/client/v4/accounts/${account}/ai`
const gateway = `/v1/${account}/my-gateway_1`

describe('parseAiTarget', () => {
  const operations = [
    ['/v1/chat/completions', 'chat'],
    ['/v1/messages', 'messages'],
    ['/v1/responses', 'responses'],
    ['/v1/embeddings', 'embeddings'],
    ['/run', 'run'],
  ] as const
  for (const [path, operation] of operations) {
    test(`reads the REST route ${path}`, () => {
      deepEqual(parseAiTarget(rest + path), { api: 'rest', account, operation, model: null, query: '' })
    })
  }

  for (const [path, operation] of operations.filter(([path]) => path !== '/run'))
    test(`reads the short route ${path}, without an account`, () => {
      const target = { api: 'rest', account: null, operation, model: null, query: '' }
      deepEqual(parseAiTarget(path), target)
      deepEqual(parseAiTarget(`/v1${path}?a`), { ...target, query: '?a' })
      ok(isShortRoute(path))
      ok(!isAmongAiRoutes(path) && !isShortRoute(rest + path) && !isShortRoute(gateway + path))
    })

  test('reads a path whose version the base URL and the SDK both wrote', () => {
    const asked = parseAiTarget(`${rest}/v1/messages?beta=true`)
    deepEqual(parseAiTarget(`${rest}/v1/v1/messages?beta=true`), asked)
    equal(parseAiTarget(`${rest}/v1/v1/v1/messages`), null)
    equal(parseAiTarget(`${rest}/v1/v1/run`), null)
    const unified = parseAiTarget(`${gateway}/compat/chat/completions?a`)
    deepEqual(parseAiTarget(`${gateway}/compat/v1/chat/completions?a`), unified)
  })

  test('keeps the query of a REST route', () => {
    deepEqual(parseAiTarget(`${rest}/v1/messages?beta=true`), {
      api: 'rest',
      account,
      operation: 'messages',
      model: null,
      query: '?beta=true',
    })
  })

  const models = [
    ['openai/gpt-4o', 'openai/gpt-4o'],
    ['openai%2Fgpt-4o', 'openai/gpt-4o'],
    ['@local/llama3.2:1b', '@local/llama3.2:1b'],
    ['%40local/a%20b', '@local/a b'],
    ['openrouter/a/b', 'openrouter/a/b'],
    ['../../tokens', '../../tokens'],
  ] as const
  for (const [text, model] of models) {
    test(`takes ${text} of /ai/run as one model`, () => {
      deepEqual(parseAiTarget(`${rest}/run/${text}?x`), {
        api: 'rest',
        account,
        operation: 'run',
        model,
        query: '?x',
      })
    })
  }

  const native = [
    ['/openai/chat/completions', 'openai', '/chat/completions'],
    ['/openai', 'openai', '/'],
    ['/openai/', 'openai', '/'],
    ['/openai?a=b', 'openai', '/?a=b'],
    ['/anthropic/v1/messages?beta=true', 'anthropic', '/v1/messages?beta=true'],
    ['/google-ai-studio//v1beta/%2e%2E/x', 'google-ai-studio', '//v1beta/%2e%2E/x'],
    ['/custom-mine/a%2Fb', 'custom-mine', '/a%2Fb'],
    ['/compatible/chat/completions', 'compatible', '/chat/completions'],
  ] as const
  for (const [text, provider, path] of native) {
    test(`passes on the path of ${text} as received`, () => {
      deepEqual(parseAiTarget(gateway + text), {
        api: 'native',
        account,
        gateway: 'my-gateway_1',
        provider,
        path,
      })
    })
  }

  test('reads the unified endpoint, and nothing else of its name', () => {
    deepEqual(parseAiTarget(`${gateway}/compat/chat/completions?a`), {
      api: 'compat',
      account,
      gateway: 'my-gateway_1',
      operation: 'chat',
      query: '?a',
    })
    equal(parseAiTarget(`${gateway}/compat`), null)
    equal(parseAiTarget(`${gateway}/compat/embeddings`), null)
    equal(parseAiTarget(`${gateway}/compat/chat/completions/`), null)
  })

  const foreign = [
    '',
    '*',
    '/',
    '/v1/',
    `/v1/${account}`,
    `/v1/${account}/`,
    `/v1/${account}/g`,
    `/v1/${account}/g/`,
    `/v1/${account}//openai`,
    `/v1/${account}%2Fg/openai/x`,
    `/v1/${account}/g%2Fopenai/x`,
    `/v1/${account}/g/open%61i/x`,
    `/v1/${account}/g/../x`,
    `/v1/${account}/G/openai`,
    `/v1/${account}/g/OpenAI`,
    `/v1/${account}/${'g'.repeat(65)}/openai`,
    `/v1/${account.toUpperCase()}/g/openai`,
    `/v1/${account}0/g/openai`,
    `/v1/${account.slice(1)}/g/openai`,
    `/v2/${account}/g/openai`,
    `/client/v4/accounts/${account}`,
    `/client/v4/accounts/${account}/ai`,
    `/client/v4/accounts/${account}/ai/`,
    `/client/v4/accounts/${account}/tokens`,
    `/client/v4/accounts/${account.toUpperCase()}/ai/run`,
    `${rest}/v1/chat/completions/`,
    '/v1/chat/completions/',
    '/v1/chat%2Fcompletions',
    '/v1/Messages',
    '/v1//messages',
    '/v1/v1/v1/messages',
    '/v1/run',
    '/v1/v1/run',
    '/v1/../messages',
    '/chat/completions',
    'http://ai.test/v1/messages',
    `${rest}/v1/chat%2Fcompletions`,
    `${rest}//v1/chat/completions`,
    `${rest}/v1/../run`,
    `${rest}/run/`,
    `${rest}/run/%`,
    `${rest}/run/%ff`,
    `${rest}/run/${'m'.repeat(257)}`,
    `${rest}/runs`,
    `http://ai.test${gateway}/openai/x`,
  ]
  for (const target of foreign) {
    test(`finds no AI route in ${JSON.stringify(target.slice(0, 100))}`, () => {
      equal(parseAiTarget(target), null)
    })
  }

  test('takes gateways and providers of 64 characters', () => {
    const name = 'n'.repeat(64)
    const target = parseAiTarget(`/v1/${account}/${name}/${name}/x`)
    ok(target?.api === 'native')
    equal(target.gateway, name)
    equal(target.provider, name)
  })

  test('never loses or adds a byte of what it splits', () => {
    const piece = fc.oneof(fc.string(), fc.constantFrom('/', '?', '%2f', '..', 'compat', 'openai', 'a', '-'))
    fc.assert(
      fc.property(fc.array(piece), pieces => {
        const text = pieces.join('')
        const target = parseAiTarget(`/v1/${account}/g/${text}`)
        if (target?.api !== 'native') return
        const whole = `${target.provider}${target.path}`
        ok(whole === text || whole === text.replace(/^[^?]*/, '$&/') || whole === `${text}/`)
      }),
    )
  })

  test('reads any text without throwing', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), text => void parseAiTarget(text)))
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), text => void parseAiTarget(`${rest}/run/${text}`)),
    )
  })
})

describe('isBaseOfCalls', () => {
  const bases = [`${gateway}/anthropic`, `${gateway}/compat`, rest]
  for (const base of bases.flatMap(base => [base, `${base}/`, `${base}/v1`, `${base}/v1/`]))
    test(`knows ${base} as a base URL, among AI routes`, () => {
      ok(isBaseOfCalls(base))
      ok(isAmongAiRoutes(base))
    })
  for (const base of ['/', '/v1', '/v1/'])
    test(`knows ${base} as a base URL of short routes`, () => ok(isBaseOfCalls(base)))

  const calls = [
    `${gateway}/anthropic/v1/messages`,
    `${gateway}/anthropic?a`,
    `${gateway}/anthropic//`,
    gateway,
    `${rest}/run`,
    `${rest}x`,
    `${rest}?a`,
    `/v1/${account}x/g/anthropic`,
    `/client/v4/accounts/${account}`,
    `/x${rest}`,
    '//',
    '/v1?a',
    '/v1/messages',
  ]
  for (const path of calls) test(`does not take ${path} for one`, () => ok(!isBaseOfCalls(path)))
})
