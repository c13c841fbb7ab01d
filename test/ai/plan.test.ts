import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Call, planCall as planRequest, readCall, withoutUsage } from '../../src/ai/plan.ts'
import { Providers } from '../../src/ai/providers/providers.ts'
import type { CompatTarget, Operation, RestTarget } from '../../src/ai/target.ts'
import { UsageRefusals } from '../../src/ai/usage-refusals.ts'
import { usualTransport } from '../../src/config/model/pool-config.ts'
import type { Fault, Refusal } from '../../src/errors/catalogue/refusal.ts'
import { anyCharacter } from '../help/any-text.ts'
import { thorough } from '../help/thorough.ts'

const account = '0123456789abcdef0123456789abcdef'
const providers = new Providers({ providers: [] })

function rest(operation: Operation, model: string | null = null, query = ''): RestTarget {
  return { api: 'rest', account, operation, model, query }
}

const compat: CompatTarget = { api: 'compat', account, gateway: 'g', operation: 'chat', query: '' }

function planCall(
  target: RestTarget | CompatTarget,
  body: Buffer,
  of: Providers,
  wishes?: Parameters<typeof planRequest>[3],
): Call | Refusal {
  const asked = readCall(target, body)
  return 'error' in asked ? asked : planRequest(target, asked, of, wishes)
}

function planned(target: RestTarget | CompatTarget, body: string | object): Call {
  const call = planCall(target, bytesOf(body), providers)
  ok(!('error' in call), JSON.stringify(call))
  return call
}

function refused(
  target: RestTarget | CompatTarget,
  body: string | object | Buffer,
): readonly [string, Fault] {
  const call = planCall(target, bytesOf(body), providers)
  ok('error' in call)
  equal(call.faults.length, 1)
  return [call.error, call.faults[0]!]
}

function bytesOf(body: string | object | Buffer): Buffer {
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

const configuredOpenai = {
  name: 'openai',
  url: null,
  keys: [],
  keySources: [],
  keyVariables: [],
  speaks: 'openai',
  apis: null,
  models: null,
  resources: [],
  project: null,
  identity: null,
  streamUsage: null,
  tls: { verify: true, serverName: null, ca: null, identity: null },
  transport: usualTransport,
  proxy: null,
} as const

const messages = [{ role: 'user', content: 'hi' }]

describe('a REST call', () => {
  const paths = [
    [rest('chat'), 'openai/gpt-4o', 'openai', '/v1/chat/completions'],
    [compat, 'openai/gpt-4o', 'openai', '/v1/chat/completions'],
    [rest('responses'), 'openai/gpt-4o', 'openai', '/v1/responses'],
    [rest('embeddings'), 'openai/text-embedding-3-small', 'openai', '/v1/embeddings'],
    [rest('messages', null, '?beta=true'), 'anthropic/claude-sonnet-4-5', 'openai', '/v1/messages?beta=true'],
    [rest('chat'), '@local/llama3.2', 'openai', '/v1/chat/completions'],
    [rest('chat'), 'google/gemini-2.5-flash', 'openai', '/v1beta/openai/chat/completions'],
  ] as const
  for (const [target, model, , path] of paths) {
    test(`of ${target.api} ${target.operation} with ${model} goes to ${path}`, () => {
      const call = planned(target, { model, input: 'x', messages })
      equal(call.path, path)
      equal(call.model, model.slice(model.indexOf('/') + 1))
      equal(call.translation, null)
      equal(call.wraps, false)
      const dialects: Partial<Record<Operation, string>> = { messages: 'anthropic', responses: 'responses' }
      equal(call.dialect, dialects[target.operation] ?? 'openai')
    })
  }

  test('changes only the bytes of the model', () => {
    const body = (model: string) =>
      ` {"a" : 1.0,\n"model"\t: ${model} ,"stream":true,"b":{"model":"x"},"é":"\\u00e9"} \n`
    const call = planned(rest('chat'), body('"openai\\/gpt-4o"'))
    equal(call.body.toString(), body('"gpt-4o"'))
  })

  test('keeps every other member and byte, whatever they are', () => {
    const name = fc.string({ unit: anyCharacter }).filter(name => name.toLowerCase() !== 'model')
    const member = fc.tuple(name, fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'))
    const written = member.map(
      ([name, value, space]) => `${JSON.stringify(name)}: ${JSON.stringify(value, null, space)}`,
    )
    fc.assert(
      fc.property(fc.array(written), fc.array(written), (before, after) => {
        const body = (model: string) =>
          `{${[...before, `"model" :${JSON.stringify(model)}`, ...after].join(' ,')}}`
        equal(planned(rest('chat'), body('openai/a "b"')).body.toString(), body('a "b"'))
      }),
    )
  })

  test('is translated for a provider that speaks the other API only', () => {
    const chat = planned(rest('chat'), { model: 'anthropic/claude-sonnet-4-5', messages, stream: true })
    equal(chat.path, '/v1/messages')
    ok(chat.translation)
    equal(chat.body, chat.translation.body)
    equal(JSON.parse(chat.body.toString()).model, 'claude-sonnet-4-5')
    equal(chat.dialect, 'openai')
    const other = planned(rest('messages'), { model: 'openai/gpt-4o', messages, max_tokens: 9 })
    deepEqual([other.path, other.dialect], ['/v1/chat/completions', 'anthropic'])
    ok(other.translation)
    const responses = planned(rest('responses'), { model: 'anthropic/claude-sonnet-4-5', input: 'Hi' })
    deepEqual([responses.path, responses.dialect, responses.asks], ['/v1/messages', 'responses', 'anthropic'])
  })

  test('keeps every digit of numbers that are translated', () => {
    const input = '{"id":9007199254740993123,"ratio":0.12345678901234567890}'
    const schema = '{"type":"object","properties":{"id":{"type":"integer","maximum":9007199254740993123}}}'
    const turns = `"max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":${input}}]}]`
    const toChat = planned(
      rest('messages'),
      `{"model":"openai/gpt-4o",${turns},"tools":[{"name":"f","input_schema":${schema}}]}`,
    )
    const chat = toChat.body.toString()
    ok(chat.includes(`"arguments":${JSON.stringify(input)}`), chat)
    ok(chat.includes(`"parameters":${schema}`), chat)
    const call = JSON.stringify({ id: 't', type: 'function', function: { name: 'f', arguments: input } })
    const tool = `{"type":"function","function":{"name":"f","parameters":${schema}}}`
    const toMessages = planned(
      rest('chat'),
      `{"model":"anthropic/claude","messages":[{"role":"assistant","tool_calls":[${call}]}],"tools":[${tool}]}`,
    )
    ok(toMessages.body.toString().includes(`"input":${input}`), toMessages.body.toString())
    ok(toMessages.body.toString().includes(`"input_schema":${schema}`), toMessages.body.toString())
  })

  test('removes everything from the query that could be a credential', () => {
    const body = { model: 'google/gemini-2.5-flash', messages }
    const pathWith = (query: string) => planned(rest('chat', null, query), body).path
    equal(pathWith('?key=x&alt=1'), '/v1beta/openai/chat/completions?alt=1')
    equal(pathWith('?a=1&k%65y=x&b=2'), '/v1beta/openai/chat/completions?a=1&b=2')
    equal(pathWith('?key=x'), '/v1beta/openai/chat/completions')
  })

  test('drops a query that belongs to the other API', () => {
    const body = { model: 'openai/gpt-4o', max_tokens: 9, messages }
    equal(planned(rest('messages', null, '?beta=true'), body).path, '/v1/chat/completions')
  })

  test('passes on the refusal of a translation, with pointers into the body', () => {
    const [error, fault] = refused(rest('chat'), {
      model: 'anthropic/c',
      messages,
      logit_bias: { 1: 2 },
    })
    deepEqual([error, fault.code, fault.pointer], ['bad_request', 10001, '/logit_bias'])
    const input = { messages, max_tokens: 'many' }
    const [, nested] = refused(rest('run'), {
      model: 'anthropic/c',
      input: { prompt: 'x', max_tokens: 'many' },
    })
    equal(nested.pointer, '/input/max_tokens')
    equal(planned(rest('run'), { model: 'anthropic/c', input }).path, '/v1/messages')
  })

  test('is refused when it is nested too deeply, valid or not', () => {
    const message = 'The body must not nest deeper than 256 levels'
    for (const end of ['', ']'.repeat(1e6)]) {
      const deep = `{"model":"openai/x","messages":${'['.repeat(1e6)}${end}}`
      equal(refused(rest('chat'), deep)[1].message, message)
    }
    planned(rest('chat'), `{"model":"openai/x","messages":${'['.repeat(255)}${']'.repeat(255)}}`)
  })

  const bad = [
    ['no JSON', '{"model":', 6003, null],
    ['nothing', '', 6003, null],
    ['a byte order mark', '\ufeff{"model":"openai/x"}', 6003, null],
    ['an array', '[]', 6003, null],
    ['null', 'null', 6003, null],
    ['bytes that are no UTF-8', Buffer.from('7b226d6f64656c223a22ff227d', 'hex'), 6003, null],
    ['no model', '{}', 10001, '/model'],
    ['a model that is no string', '{"model":1}', 10001, '/model'],
    ['two models', '{"model":"openai/a","model":"openai/b"}', 10001, '/model'],
    [
      'two models to a reader that takes names in any case',
      '{"model":"openai/a","Model":"b"}',
      10001,
      '/model',
    ],
    ['two models, one in disguise', '{"model":"openai/a","mod\\u0065l":"openai/b"}', 10001, '/model'],
  ] as const
  for (const [name, body, code, pointer] of bad) {
    test(`with ${name} is refused`, () => {
      const [error, fault] = refused(rest('chat'), body)
      deepEqual([error, fault.code, fault.pointer], ['bad_request', code, pointer])
    })
  }

  test('for a model that nobody has is not found', () => {
    for (const model of ['gpt-4o', 'nobody/gpt-4o', 'openai/', '']) {
      const [error, fault] = refused(rest('chat'), { model })
      deepEqual([error, fault.code, fault.pointer], ['not_found', 7003, '/model'])
    }
  })

  test('for an API that the provider does not have is refused by its name', () => {
    const [, fault] = refused(rest('embeddings'), { model: 'anthropic/claude' })
    deepEqual(fault, {
      code: 10001,
      message: 'anthropic has no known API for embeddings',
      pointer: '/model',
    })
    refused(rest('responses'), { model: 'deepseek/deepseek-chat' })
  })
})

describe('a call of /ai/run', () => {
  test('takes the input of the body as the request, byte for byte, and adds the model', () => {
    const input = '{ "messages" : [ ],"temperature":1.0}'
    const added = '{ "model":"gpt-4o","messages" : [ ],"temperature":1.0}'
    const call = planned(rest('run'), `{"input":${input},"model":"openai/gpt-4o"}`)
    equal(call.body.toString(), added)
    deepEqual([call.path, call.wraps, call.dialect], ['/v1/chat/completions', true, 'openai'])
    equal(planned(rest('run', 'openai/gpt-4o'), input).body.toString(), added)
  })

  const forms = [
    ['openai/gpt-4o', { messages }, '/v1/chat/completions', 'openai'],
    ['anthropic/claude', { messages, stream: true }, '/v1/messages', 'anthropic'],
    ['openai/gpt-4o', { input: 'x' }, '/v1/responses', 'responses'],
    ['openai/text-embedding-3-small', { input: 'x' }, '/v1/embeddings', 'openai'],
    ['mistral/mistral-embed', { input: ['x'] }, '/v1/embeddings', 'openai'],
    ['openai/gpt-4o', { prompt: 'x' }, '/v1/chat/completions', 'openai'],
  ] as const
  for (const [model, input, path, dialect] of forms) {
    test(`of ${model} with ${Object.keys(input)[0]} goes to ${path}`, () => {
      const call = planned(rest('run'), { model, input })
      deepEqual([call.path, call.dialect, call.translation], [path, dialect, null])
    })
  }

  test('makes a message of a prompt and leaves the rest', () => {
    const call = planned(rest('run', 'openai/gpt-4o'), '{"top_p":1.0,"prompt": "a\\u0062" ,"n":1}')
    equal(
      call.body.toString(),
      '{"model":"gpt-4o","top_p":1.0,"messages":[{"role":"user","content":"a\\u0062"}] ,"n":1}',
    )
    const translated = planned(rest('run', 'anthropic/claude'), { prompt: 'hello' })
    equal(translated.path, '/v1/messages')
    deepEqual(
      JSON.parse(translated.body.toString()).messages,
      messages.map(m => ({ ...m, content: 'hello' })),
    )
  })

  const bad = [
    [{ model: 'openai/x', input: {} }, '/input'],
    [{ model: 'openai/x', input: { messages, MODEL: 'y' } }, '/input/MODEL'],
    [{ model: 'openai/x' }, '/input'],
    [{ model: 'openai/x', input: 'hi' }, '/input'],
    [{ model: 'openai/x', input: { messages }, 'a/b': 1 }, '/a~1b'],
    [{ model: 'openai/x', input: { messages, prompt: 'x' } }, '/input/prompt'],
    [{ model: 'openai/x', input: { messages, model: 'x' } }, '/input/model'],
    [{ model: 'openai/x', input: { prompt: 1 } }, '/input/prompt'],
    [{ model: 'groq/x-embed', input: { input: 'x' } }, '/model'],
    ['{"model":"openai/x","input":{"prompt":"a","prompt":"b"}}', '/input/prompt'],
    ['{"model":"openai/x","input":{"prompt":"a"},"input":{"prompt":"b"}}', '/input'],
  ] as const
  for (const [body, pointer] of bad) {
    test(`with ${JSON.stringify(body)} is refused at ${pointer}`, () => {
      const [error, fault] = refused(rest('run'), body)
      deepEqual([error, fault.code, fault.pointer], ['bad_request', 10001, pointer])
    })
  }

  test('with a model in its path has no pointer for it', () => {
    deepEqual(refused(rest('run', 'nobody/x'), { prompt: 'x' })[1].pointer, null)
    deepEqual(refused(rest('run', 'openai/x'), { prompt: 'x', model: 'y' })[1].pointer, '/model')
    deepEqual(refused(rest('run', 'openai/x'), {})[1].pointer, null)
  })
})

test('any body becomes a call or a refusal, and never throws', () => {
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom('openai/x', 'anthropic/x', messages))
  const name = fc.constantFrom('model', 'input', 'messages', 'prompt', 'stream', 'tools', '__proto__', 'x')
  const body = fc.oneof(
    fc.string(),
    fc.dictionary(name, fc.oneof(value, fc.dictionary(name, value))).map(o => JSON.stringify(o)),
  )
  const operation = fc.constantFrom<Operation>('chat', 'messages', 'responses', 'embeddings', 'run')
  fc.assert(
    fc.property(operation, fc.option(fc.constant('anthropic/x')), body, (operation, model, text) => {
      const call = planCall(rest(operation, operation === 'run' ? model : null), Buffer.from(text), providers)
      if (!('error' in call)) JSON.parse(call.body.toString())
    }),
    { numRuns: thorough(1_000, 150) },
  )
})

describe('the usage of a stream', () => {
  const chat = rest('chat')
  const wishes = {
    streamUsage: true,
    isLogged: true,
    isChecked: true,
    isRouted: false,
    refusals: new UsageRefusals(),
  }
  const asking = (options: string) => {
    const body = `{"model":"openai/m","stream":true, "stream_options" : ${options} ,"messages":[]}`
    const call = planCall(chat, Buffer.from(body), providers, wishes) as Call
    if (call.asksUsage) equal(`${withoutUsage(call).body}`, body.replace('openai/m', 'm'))
    return [call.hidesUsage, /"stream_options" ?: ?(\{.*?\}|[^,]*?) ?,"messages"/.exec(`${call.body}`)?.[1]]
  }

  test('is requested by added bytes, and everything else stays', () => {
    deepEqual(asking('null'), [true, '{"include_usage":true}'])
    deepEqual(asking('{}'), [true, '{"include_usage":true}'])
    deepEqual(asking('{ "n":12345678901234567890 }'), [
      true,
      '{"include_usage":true, "n":12345678901234567890 }',
    ])
    deepEqual(asking('{"n":1.0,"include_usage" : false}'), [true, '{"n":1.0,"include_usage" : true}'])
    deepEqual(asking('{"include_usage":null}'), [true, '{"include_usage":true}'])
    deepEqual(asking('{"include_usage":true,"include_usage":false}'), [
      true,
      '{"include_usage":true,"include_usage":true}',
    ])
  })

  test('is not requested where the provider would refuse it', () => {
    for (const options of ['{"include_usage":"true"}', '{"include_usage":1}', '[]', '"all"', '7'])
      deepEqual(asking(options)[0], false, options)
  })

  describe('in a translation', () => {
    const tools = [{ name: 't', input_schema: { const: { stream_options: { include_usage: true } } } }]
    const body = { max_tokens: 9, stream: true, messages, tools }
    const callFor = (model: string, changes: Partial<typeof wishes>, of = providers) =>
      planCall(rest('messages'), Buffer.from(JSON.stringify({ model, ...body })), of, {
        ...wishes,
        ...changes,
      }) as Call
    const optionsOf = (call: Call) => JSON.parse(`${call.body}`).stream_options

    test('is requested for its caller, logged or not', () => {
      for (const isLogged of [true, false])
        deepEqual(optionsOf(callFor('openai/m', { isLogged })), { include_usage: true })
      equal(JSON.parse(`${withoutUsage(callFor('openai/m', {})).body}`).stream_options, undefined)
      equal(
        `${withoutUsage(callFor('openai/m', {})).body}`,
        `${callFor('openai/m', { streamUsage: false }).body}`,
      )
    })

    test('is not requested against the will of the gateway or the provider', () => {
      equal(optionsOf(callFor('mistral/m', {})), undefined)
      equal(optionsOf(callFor('openai/m', { streamUsage: false })), undefined)
      const refusals = new UsageRefusals()
      refusals.add(providers.model('openai/m')!.provider, 'm')
      equal(optionsOf(callFor('openai/m', { refusals })), undefined)
      deepEqual(optionsOf(callFor('openai/other', { refusals })), { include_usage: true })
      const off = new Providers({ providers: [{ ...configuredOpenai, streamUsage: false }] })
      equal(optionsOf(callFor('openai/m', {}, off)), undefined)
      equal(callFor('openai/m', {}, off).asksUsage, false)
    })
  })
})

test('a translation accepts any notation of numbers, and leaves those of a tool unchanged', () => {
  const schema = '{"type":"object","properties":{"a":{"const":1.0,"maximum":1e5,"minimum":-0}}}'
  const parameters =
    '"temperature":0.29999999999999999,"top_p":7E-1,"n":1.0,"max_tokens":1e2,"presence_penalty":-0.0'
  const tool = `{"type":"function","function":{"name":"f","parameters":${schema}}}`
  const call = planned(
    rest('chat'),
    `{"model":"anthropic/m","messages":${JSON.stringify(messages)},${parameters},"tools":[${tool}]}`,
  )
  const { temperature, top_p, max_tokens } = JSON.parse(`${call.body}`)
  deepEqual([temperature, top_p, max_tokens], [0.3, 0.7, 100])
  ok(`${call.body}`.includes(schema), `${call.body}`)
})
