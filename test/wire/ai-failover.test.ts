// Calls that survive their providers: what happens when the first model of an alias fails, in every way and at
// every moment, is that its caller gets the response of the next one, whole and only once.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { AiConfig, AliasStep } from '../../src/config/model/config.ts'
import { type AiEdge, type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { freePort } from '../help/free-port.ts'
import { type Origin, type Respond, startOrigin } from '../help/origin.ts'
import type { Gateway } from '../../src/store/records/records.ts'
import { until } from '../help/until.ts'
import type { Message, Wire } from '../help/raw.ts'

const sse = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n'
const role = 'data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n'
const word = (text: string) => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`
const finished = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
const chunked = (...events: string[]) =>
  `${sse}Transfer-Encoding: chunked\r\n\r\n${events.map(event => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`).join('')}`
const whole = (...events: string[]) => `${chunked(...events)}0\r\n\r\n`

const failover: AiConfig['failover'] = {
  statuses: [408, 409, 425, 429, 500, 502, 503, 504, 529],
  maxAttempts: 3,
  deadline: 0,
  retryWithin: 0,
}

const step = (model: string, rest: Partial<AliasStep> = {}): AliasStep => ({
  model,
  timeout: null,
  retries: 0,
  weight: null,
  ...rest,
})

interface Started {
  readonly ai: AiEdge
  readonly first: Origin
  readonly second: Origin
  readonly ask: (request: object, ...fields: string[]) => Promise<Message>
}

interface Trial extends AiSettings {
  readonly steps?: readonly AliasStep[]
  readonly rules?: Partial<AiConfig['failover']>
  /** The URL of a provider custom-down. */
  readonly down?: string
  readonly keys?: readonly string[]
}

/** Starts an alias `fast` of two providers, the first of which fails as the script says. */
async function start(
  t: TestContext,
  fail: Script | null,
  respond: Respond,
  trial: Trial = {},
): Promise<Started> {
  const {
    steps = [step('openai/gpt-4o-mini'), step('groq/llama')],
    rules,
    down,
    keys = ['sk-1'],
    ...settings
  } = trial
  const first = await startOrigin(t, async wire => {
    for (;;) {
      const request = await wire.request()
      first.requests.push(request)
      if (fail === null) await wire.send(String(await respond(request, wire)))
      else await fail(wire, request)
    }
  })
  const second = await startOrigin(t, async wire => {
    for (;;) {
      const request = await wire.request()
      second.requests.push(request)
      const response = await respond(request, wire)
      if (response !== undefined) await wire.send(String(response))
    }
  })
  const providers = {
    openai: { url: first.url, keys },
    groq: { url: second.url, keys: ['sk-2'] },
    anthropic: { url: second.url, keys: ['sk-3'] },
    ...(down !== undefined && { 'custom-down': { url: down, keys: ['sk-4'] } }),
  }
  const ai = await startAi(t, providers, {
    ...settings,
    ai: { models: [{ name: 'fast', steps }], failover: { ...failover, ...rules }, ...settings.ai },
  })
  const ask = (request: object, ...fields: string[]) =>
    ai.edge.ask(
      call(
        `${ai.rest}/v1/chat/completions`,
        JSON.stringify({ model: 'fast', messages: [], ...request }),
        `Authorization: Bearer ${ai.token}`,
        ...fields,
      ),
    )
  return { ai, first, second, ask }
}

type Script = (wire: Wire, request: Message) => unknown

const failures: Readonly<Record<string, readonly [script: Script, outcome: string]>> = {
  'resets the connection': [wire => wire.socket.resetAndDestroy(), 'origin_unknown_error'],
  'closes it without a response': [wire => wire.finish(), 'origin_unknown_error'],
  'says nothing': [() => {}, 'origin_response_timeout'],
  'responds with 503': [wire => wire.send('HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n{}'), 'http_503'],
  'responds with 429': [
    wire => wire.send('HTTP/1.1 429 No\r\nRetry-After: 30\r\nContent-Length: 2\r\n\r\n{}'),
    'http_429',
  ],
  'responds with a broken head': [wire => wire.send('HTTP/1.1 two hundred\r\n\r\n'), 'origin_unknown_error'],
  'breaks off behind the head of a stream': [
    async wire => {
      await wire.send(chunked())
      wire.socket.resetAndDestroy()
    },
    'origin_unknown_error',
  ],
  'breaks off behind the role': [
    async wire => {
      await wire.send(chunked(': ping\n\n', role))
      wire.socket.resetAndDestroy()
    },
    'origin_unknown_error',
  ],
  'ends a stream behind the role': [wire => wire.send(whole(role)), 'stream_error'],
  'says nothing behind the role': [wire => wire.send(chunked(role)), 'origin_response_timeout'],
  'begins a stream with an error': [
    wire => wire.send(chunked('data: {"error":{"message":"overloaded","type":"server_error"}}\n\n')),
    'stream_error',
  ],
  'sends an error behind the role': [
    wire => wire.send(chunked(role, 'event: error\ndata: {"type":"error"}\n\n')),
    'stream_error',
  ],
  'responds with half of its JSON': [
    wire => wire.send('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 6\r\n\r\n{"id":'),
    'stream_error',
  ],
  'responds with an error as its JSON': [
    wire => wire.send(json({ error: { message: 'overloaded' } })),
    'stream_error',
  ],
  'breaks off within a response of JSON': [
    async wire => {
      await wire.send(
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"id":',
      )
      wire.socket.resetAndDestroy()
    },
    'origin_unknown_error',
  ],
}

test('a run as {model, input} goes on to the next model, as one with its model in the path does', async t => {
  const { ai, second } = await start(t, failures['responds with 503']![0], () => json(completion))
  const bearer = `Authorization: Bearer ${ai.token}`
  const messages = [{ role: 'user', content: 'Hi' }]
  for (const [path, body] of [
    ['/run', { model: 'fast', input: { messages } }],
    ['/run/fast', { messages }],
  ] as const) {
    const response = await ai.edge.ask(call(`${ai.rest}${path}`, JSON.stringify(body), bearer))
    equal(response.status, 200, path)
    deepEqual(JSON.parse(response.text).result, completion)
    deepEqual(JSON.parse(second.requests.at(-1)!.text), { model: 'llama', messages })
  }
})

const fastTimeouts = { response: 250 }

describe('a first provider that', () => {
  for (const [name, [script, outcome]] of Object.entries(failures))
    test(`${name} is unnoticed by its caller, and the ledger has it`, async t => {
      const isStream = name.includes('stream') || name.includes('role')
      const good = isStream ? whole(role, word('Hello'), finished) : json(completion)
      const { ai, first, second, ask } = await start(t, script, () => good, { timeouts: fastTimeouts })
      const response = await ask({ stream: isStream })
      equal(response.status, 200)
      if (isStream) equal(response.text, role + word('Hello') + finished)
      else deepEqual(JSON.parse(response.text), completion)
      equal(response.field('svc-aig-step'), '1')
      equal(response.field('svc-aig-provider'), 'groq')
      equal(response.field('svc-aig-model'), 'llama')
      equal(
        response.field('svc-aig-attempts')!.replaceAll(/ms=\d+/g, 'ms='),
        `openai;model="gpt-4o-mini";outcome=${outcome};ms=, groq;model="llama";outcome=ok;ms=`,
      )
      deepEqual([first.requests.length, second.requests.length], [1, 1])
      equal(JSON.parse(second.requests[0]!.text).model, 'llama')
      equal(second.requests[0]!.field('authorization'), 'Bearer sk-2')
      const entry = await ai.entry()
      equal(response.field('svc-aig-log-id'), entry.id)
      deepEqual([entry.provider, entry.model, entry.success], ['groq', 'llama', true])
      deepEqual(
        [entry.step, entry.attempts!.map(attempt => `${attempt.provider} ${attempt.outcome}`)],
        [1, [`openai ${outcome}`, 'groq ok']],
      )
    })
})

test('a provider that is down is passed over', async t => {
  const { ai, second, ask } = await start(t, null, () => json(completion), {
    steps: [step('custom-down/m'), step('groq/llama')],
    down: `http://127.0.0.1:${await freePort()}`,
  })
  const response = await ask({})
  equal(response.status, 200)
  match(response.field('svc-aig-attempts')!, /^custom-down;model="m";outcome=origin_down;ms=\d+, groq;/)
  equal(second.requests.length, 1)
  equal(ai.edge.accesses.at(-1)!.retries, 1)
})

test('a model whose provider has no key cannot take a call, and is no attempt', async t => {
  const { ask } = await start(t, null, () => json(completion), {
    steps: [step('mistral/m'), step('groq/llama')],
  })
  const response = await ask({})
  equal(response.status, 200)
  equal(response.field('svc-aig-step'), '1')
  match(response.field('svc-aig-attempts')!, /^groq;model="llama";outcome=ok;ms=\d+$/)
  const alone = await start(t, null, () => json(completion), { steps: [step('mistral/m')] })
  match((await alone.ask({})).text, /ai\.providers\.mistral\.keys/)
})

test('a feature that one provider lacks leads to the next, and is refused by name if all lack it', async t => {
  const steps = [step('anthropic/claude'), step('groq/llama')]
  const { ask, second } = await start(t, null, () => json(completion), { steps })
  const request = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 5, logprobs: true }
  equal((await ask(request)).status, 200)
  equal(second.requests.length, 1)
  const alone = await start(t, null, () => json(completion), { steps: steps.slice(0, 1) })
  const refused = await alone.ask(request)
  equal(refused.status, 400)
  match(refused.text, /logprobs/)
})

test('a credential of the caller, which may be for any provider, goes to none of an alias', async t => {
  const { ai, first } = await start(t, null, () => json(completion))
  const response = await ai.edge.ask(
    call(
      `${ai.native('compat')}/chat/completions?key=sk-query`,
      '{"model":"dynamic/fast","messages":[]}',
      `svc-aig-authorization: Bearer ${ai.token}`,
      'Authorization: Bearer sk-callers',
      'x-api-key: sk-callers',
    ),
  )
  equal(response.status, 200)
  equal(first.requests[0]!.field('authorization'), 'Bearer sk-1')
  equal(
    first.requests[0]!.lines.some(line => line.includes('sk-callers')),
    false,
  )
  equal(first.requests[0]!.target, '/chat/completions')
})

test('after content nothing is retried, and the stream ends with an error', async t => {
  const { first, second, ask } = await start(
    t,
    async wire => {
      await wire.send(chunked(role, word('Hel')))
      wire.socket.resetAndDestroy()
    },
    () => json(completion),
  )
  const response = await ask({ stream: true })
  equal(response.status, 200)
  ok(response.text.startsWith(role + word('Hel')))
  match(response.text, /"type":"origin_unknown_error"/)
  deepEqual([first.requests.length, second.requests.length], [1, 0])
})

test('a call that its provider refuses goes to no other', async t => {
  const { second, ask } = await start(
    t,
    wire => wire.send('HTTP/1.1 400 No\r\nContent-Length: 2\r\n\r\n{}'),
    () => json(completion),
  )
  const response = await ask({})
  deepEqual([response.status, response.text, second.requests.length], [400, '{}', 0])
  equal(response.field('svc-aig-attempts')!.includes('outcome=http_400'), true)
})

const busy = 'HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n{}'

for (const status of [401, 429])
  test(`a provider with several keys at ${status} leaves an attempt to the next model`, async t => {
    const { first, second, ask } = await start(
      t,
      wire => wire.send(`HTTP/1.1 ${status} No\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\n{}`),
      () => json(completion),
      { keys: ['a', 'b', 'c', 'd'] },
    )
    equal((await ask({})).status, 200)
    deepEqual([first.requests.length, second.requests.length], [2, 1])
    equal((await ask({}, 'svc-aig-max-attempts: 1')).status, status)
    equal(first.requests.length, 3)
  })

test('a key that its provider refuses leads to the next model', async t => {
  const { second, ask } = await start(
    t,
    wire => wire.send('HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\n{}'),
    () => json(completion),
  )
  equal((await ask({})).status, 200)
  equal(second.requests.length, 1)
})

test('comments keep no call waiting beyond the time for a response', async t => {
  const { ask } = await start(
    t,
    async wire => {
      await wire.send(chunked())
      while (!wire.socket.destroyed) {
        await wire.send(chunked(': ping\n\n').slice(chunked().length)).catch(() => {})
        await setTimeout(50)
      }
    },
    () => whole(role, word('Hello'), finished),
    { timeouts: { response: 400 } },
  )
  const response = await ask({ stream: true })
  equal(response.status, 200)
  match(response.field('svc-aig-attempts')!, /^openai;.*outcome=origin_response_timeout/)
})

test('a stream of nothing but its end has no content', async t => {
  const { second, ask } = await start(
    t,
    wire => wire.send(whole(role, 'data: [DONE]\n\n')),
    () => whole(role, word('Hello'), finished),
  )
  equal((await ask({ stream: true })).text, role + word('Hello') + finished)
  equal(second.requests.length, 1)
})

test('a response that has begun in time may take longer to end', async t => {
  const text = JSON.stringify(completion)
  const { second, ask } = await start(
    t,
    async wire => {
      await wire.send(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n{`,
      )
      await setTimeout(600)
      await wire.send(text.slice(1))
    },
    () => json(completion),
    { steps: [step('openai/gpt-4o-mini', { timeout: 200 }), step('groq/llama')] },
  )
  equal((await ask({})).status, 200)
  equal(second.requests.length, 0)
})

test('usage that only the gateway asked for costs the call no attempt', async t => {
  const refusal = '{"error":{"message":"stream_options not allowed"}}'
  const { first, second, ask } = await start(
    t,
    wire =>
      first.requests.length === 1
        ? wire.send(`HTTP/1.1 400 No\r\nContent-Length: ${refusal.length}\r\n\r\n${refusal}`)
        : wire.send(busy),
    () => whole(role, word('Hello'), finished),
  )
  equal((await ask({ stream: true }, 'svc-aig-max-attempts: 2')).status, 200)
  deepEqual([first.requests.length, second.requests.length], [2, 1])
})

test('a wait for which a provider asks is over before the same model is tried again', async t => {
  const times: number[] = []
  const { ask } = await start(
    t,
    wire => {
      times.push(performance.now())
      return wire.send(times.length === 1 ? busy.replace('\r\n', '\r\nRetry-After: 1\r\n') : json(completion))
    },
    () => '',
  )
  equal((await ask({ model: 'openai/gpt-4o-mini' }, 'svc-aig-max-attempts: 2')).status, 200)
  ok(times[1]! - times[0]! >= 990, `${times[1]! - times[0]!} ms`)
})

test('no field of a caller that names another account goes to a provider that an alias chose', async t => {
  const { first, second, ask } = await start(
    t,
    wire => wire.send(busy),
    () => json(completion),
  )
  const fields = [
    'openai-organization: org-1',
    'helicone-auth: Bearer h',
    'x-goog-user-project: p',
    'anthropic-beta: b',
  ]
  equal((await ask({}, ...fields)).status, 200)
  const named = (lines: readonly string[]) => lines.filter(line => fields.includes(line))
  deepEqual(named(first.requests[0]!.lines), ['openai-organization: org-1'])
  deepEqual(named(second.requests[0]!.lines), [])
})

test('Proxy-Status has the attempts of a call, if it is on', async t => {
  const { ask } = await start(
    t,
    wire => wire.send(busy),
    () => json(completion),
    { proxyStatus: true },
  )
  equal(
    (await ask({})).field('proxy-status'),
    'gatehouse; received-status=200; attempts="openai=http_503, groq=ok"',
  )
  const { ask: fail } = await start(
    t,
    wire => wire.send(busy),
    (_, wire) => void wire.socket.resetAndDestroy(),
    {
      proxyStatus: true,
    },
  )
  equal(
    (await fail({})).field('proxy-status'),
    'gatehouse; error=connection_terminated; attempts="openai=http_503, groq=origin_unknown_error"',
  )
})

test('an interim response of a provider that may fail is not passed on', async t => {
  const { ask } = await start(
    t,
    wire => wire.send(`HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n${busy}`),
    () => json(completion),
  )
  equal((await ask({})).status, 200)
})

describe('if every model fails', () => {
  test('the caller gets the last response as it is, and its SDK is kept from beginning anew', async t => {
    const { ask } = await start(
      t,
      wire => wire.send('HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}'),
      () => 'HTTP/1.1 503 Busy\r\nx-should-retry: true\r\nContent-Length: 4\r\n\r\nbusy',
    )
    const response = await ask({})
    deepEqual([response.status, response.text], [503, 'busy'])
    equal(response.field('x-should-retry'), 'false')
    match(response.field('svc-aig-attempts')!, /outcome=http_500.*outcome=http_503/)
  })

  test('without a response the caller gets one record, with its own wait', async t => {
    const { ask } = await start(
      t,
      wire => wire.send('HTTP/1.1 429 No\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}'),
      (_, wire) => {
        wire.socket.resetAndDestroy()
        return undefined
      },
    )
    const response = await ask({ stream: true })
    const record = JSON.parse(response.text)
    deepEqual([response.status, record.error_name, record.retryable], [520, 'origin_unknown_error', true])
    equal(response.field('x-should-retry'), 'false')
    equal(response.field('retry-after'), String(record.retry_after))
  })

  test('a stream that begins with an error is a status, and not a stream', async t => {
    const error = 'data: {"error":{"message":"no"}}\n\n'
    const { ask } = await start(
      t,
      wire => wire.send(chunked(role, error)),
      () => whole(role, error),
    )
    const response = await ask({ stream: true })
    deepEqual([response.status, response.field('content-type')], [502, 'application/json; charset=utf-8'])
    match(response.field('svc-aig-attempts')!, /outcome=stream_error.*outcome=stream_error/)
  })

  test('no call makes more attempts than it may', async t => {
    const steps = [step('openai/a', { retries: 4 }), step('groq/b', { retries: 4 })]
    const { first, second, ask } = await start(
      t,
      wire => wire.send(busy),
      () => busy,
      { steps },
    )
    equal((await ask({}, 'svc-aig-retry-delay: 0')).status, 503)
    deepEqual([first.requests.length, second.requests.length], [3, 0])
    equal((await ask({}, 'svc-aig-retry-delay: 0', 'svc-aig-max-attempts: 5')).status, 503)
    deepEqual([first.requests.length, second.requests.length], [8, 0])
  })
})

test('a caller decides about the attempts of a model by its name', async t => {
  let calls = 0
  const { first, ask } = await start(
    t,
    wire =>
      wire.send(++calls % 2 === 1 ? 'HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n{}' : json(completion)),
    () => '',
  )
  const fields = ['svc-aig-max-attempts: 2', 'svc-aig-retry-delay: 1']
  const response = await ask({ model: 'openai/gpt-4o-mini' }, ...fields)
  equal(response.status, 200)
  match(response.field('svc-aig-attempts')!, /^openai;.*outcome=http_503;ms=\d+, openai;.*outcome=ok;ms=\d+$/)
  equal((await ask({ model: 'openai/gpt-4o-mini' })).status, 503)
  equal(first.requests.length, 3)
})

test('a gateway decides about the attempts of a model by its name, unless its caller does', async t => {
  const busy = 'HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n{}'
  const { ai, first, second, ask } = await start(
    t,
    wire => wire.send(busy),
    () => busy,
  )
  await ai.change({ retry: { maxAttempts: 5, delay: 1, backoff: 'constant' } })
  const made = async (...args: Parameters<typeof ask>) => {
    const before = first.requests.length
    equal((await ask(...args)).status, 503)
    return first.requests.length - before
  }
  const named = { model: 'openai/gpt-4o-mini' }
  await until(async () => (await made(named)) === 5)
  equal(await made(named, 'svc-aig-max-attempts: 2'), 2)
  // An alias has retries of its own.
  equal(await made({}), 1)
  equal(second.requests.length, 1)
  const native = await ai.edge.ask(
    call(`${ai.native('openai')}/chat/completions`, '{}', `svc-aig-authorization: Bearer ${ai.token}`),
  )
  equal(native.field('svc-aig-attempts')!.split(', ').length, 5)
})

test('a caller decides how long the first content may take', async t => {
  const { ask } = await start(
    t,
    wire => wire.send(chunked(role)),
    () => '',
  )
  const response = await ask({ model: 'openai/gpt-4o-mini', stream: true }, 'svc-aig-request-timeout: 80')
  equal(response.status, 524)
  match(JSON.parse(response.text).detail, /openai accepted the connection but did not respond within 0.08 s/)
})

test('what a caller says out of bounds is refused by name', async t => {
  const { first, second, ask } = await start(t, null, () => json(completion))
  const cases: readonly [string, RegExp][] = [
    ['svc-aig-request-timeout: 0', /svc-aig-request-timeout must be a whole number from 1 to 3600000/],
    ['svc-aig-request-timeout: 1s', /svc-aig-request-timeout must be/],
    ['svc-aig-max-attempts: 6', /svc-aig-max-attempts must be a whole number from 1 to 5/],
    ['svc-aig-retry-delay: 5001', /svc-aig-retry-delay must be a whole number from 0 to 5000/],
    ['svc-aig-backoff: fast', /svc-aig-backoff must be constant, linear or exponential/],
    ['svc-aig-backoff: linear\r\nsvc-aig-backoff: linear', /svc-aig-backoff must be given once/],
  ]
  for (const [field, message] of cases) {
    const response = await ask({}, field)
    equal(response.status, 400, field)
    match(response.text, message)
  }
  deepEqual([first.requests.length, second.requests.length], [0, 0])
})

describe('when a caller leaves', () => {
  const usage =
    'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":40,"total_tokens":49}}\n\n'

  async function leave(t: TestContext, gateway: Partial<Gateway>) {
    const left = Promise.withResolvers<Wire>()
    const { ai } = await start(
      t,
      async wire => {
        await wire.send(chunked(role, word('Hel')))
        left.resolve(wire)
        await wire.ending
      },
      () => '',
    )
    await ai.change(gateway)
    const client = await ai.edge.connect()
    await client.send(
      call(
        `${ai.rest}/v1/chat/completions`,
        '{"model":"openai/gpt-4o-mini","stream":true,"messages":[]}',
        `Authorization: Bearer ${ai.token}`,
      ),
    )
    await client.until('Hel')
    const wire = await left.promise
    client.socket.resetAndDestroy()
    return { ai, wire }
  }

  test('its provider is cut off, and its usage is an estimate', async t => {
    const { ai, wire } = await leave(t, {})
    await wire.ending
    const { success, tokensOut, usageIsEstimated } = await ai.entry()
    deepEqual([success, usageIsEstimated], [false, true])
    ok(tokensOut! > 0)
  })

  test('its provider may finish, so that its usage is exact', async t => {
    const { ai, wire } = await leave(t, { onAbandon: 'drain' })
    await until(() => ai.edge.accesses.length > 0)
    await wire.send(`${chunked(word('lo'), finished, usage).slice(chunked().length)}0\r\n\r\n`)
    const { success, tokensIn, tokensOut, usageIsEstimated } = await ai.entry()
    deepEqual([success, tokensIn, tokensOut, usageIsEstimated ?? false], [false, 9, 40, false])
  })

  test('a provider that does not finish in time is cut off then', async t => {
    const { ai, wire } = await leave(t, { onAbandon: 'drain' })
    await until(() => ai.edge.accesses.length > 0)
    const flood = 'x'.repeat(1024)
    for (let i = 0; i < 1100 && !wire.socket.destroyed; i++)
      await wire.send(chunked(word(flood)).slice(chunked().length)).catch(() => {})
    const { usageIsEstimated } = await ai.entry()
    equal(usageIsEstimated, true)
  })
})
