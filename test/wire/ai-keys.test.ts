// Several keys for one provider: one that is turned away rests, and calls go on with the next.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AiEdge, call, completion, json, startAi } from '../help/ai.ts'
import { type Origin, startResponder } from '../help/origin.ts'
import type { Message } from '../help/raw.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { turnsUntil } from '../help/until.ts'

const body = '{"model":"openai/gpt-4o-mini","messages":[]}'

/** What the provider says to each key: a status, and a Retry-After. */
type Word = readonly [status: number, retryAfter?: string]

interface Started {
  readonly ai: AiEdge
  readonly provider: Origin
  readonly words: Map<string, Word>
  readonly clock: ManualClock
  readonly chat: (...fields: string[]) => Promise<Message>
  readonly native: (body?: string, ...fields: string[]) => Promise<Message>
  /** The keys that calls came with since it was asked last. */
  readonly keys: () => readonly string[]
}

async function start(t: TestContext, keys: readonly string[] = ['a', 'b']): Promise<Started> {
  const words = new Map<string, Word>()
  const provider = await startResponder(t, request => {
    const [status, retryAfter] = words.get(request.field('authorization')!.slice(7)) ?? [200]
    if (status === 200) return json(completion)
    const wait = retryAfter === undefined ? '' : `Retry-After: ${retryAfter}\r\n`
    return `HTTP/1.1 ${status} No\r\n${wait}Content-Length: 2\r\n\r\n{}`
  })
  const clock = new ManualClock()
  const ai = await startAi(t, { openai: { url: provider.url, keys } }, { ...patient, clock })
  const mine = `svc-aig-authorization: Bearer ${ai.token}`
  let seen = 0
  return {
    ai,
    provider,
    words,
    clock,
    chat: (...fields) =>
      ai.edge.ask(
        call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${ai.token}`, ...fields),
      ),
    native: (text = '{}', ...fields) =>
      ai.edge.ask(call(`${ai.native('openai')}/chat/completions`, text, mine, ...fields)),
    keys() {
      const sent = provider.requests.slice(seen).map(request => request.field('authorization')!.slice(7))
      seen = provider.requests.length
      return sent
    },
  }
}

for (const status of [429, 401])
  test(`a key at ${status} rests for its Retry-After, and no caller notices`, async t => {
    const { chat, native, words, keys, clock } = await start(t)
    words.set('a', [status, '30'])
    assert.equal((await chat()).status, 200)
    assert.deepEqual(keys(), ['a', 'b'])
    for (let i = 0; i < 3; i++) assert.equal((await native()).status, 200)
    assert.deepEqual(keys(), ['b', 'b', 'b'])
    clock.advance(30_000)
    words.clear()
    for (let i = 0; i < 2; i++) assert.equal((await chat()).status, 200)
    assert.deepEqual(keys().toSorted(), ['a', 'b'])
  })

test('a body of any size is sent again as it was, and kept in the log once', async t => {
  const { ai, native, words, keys, provider } = await start(t)
  words.set('a', [429])
  const large = JSON.stringify({ model: 'gpt-4o-mini', input: 'x'.repeat(300_000) })
  assert.equal((await native(large)).status, 200)
  assert.deepEqual(keys(), ['a', 'b'])
  assert.deepEqual(
    provider.requests.map(({ text }) => text === large),
    [true, true],
  )
  const { status, request } = await ai.entry()
  assert.deepEqual([status, request!.text], [200, large.slice(0, 64 * 1024)])
})

test('when all rest, the response has the shortest wait, and the provider is not called', async t => {
  const { ai, chat, native, words, keys, clock } = await start(t, ['a', 'b', 'c'])
  words.set('a', [429, '40']).set('b', [401]).set('c', [429, '20'])
  // The back-off of b is the shortest: one second.
  const first = await chat()
  assert.deepEqual(
    [first.status, first.field('retry-after'), first.field('x-should-retry')],
    [429, '1', 'true'],
  )
  assert.equal(JSON.parse(first.text).error.type, 'rate_limited')
  assert.deepEqual(keys(), ['a', 'b', 'c'])
  clock.advance(1000)
  const second = await native()
  assert.deepEqual([second.status, second.field('retry-after')], [429, '2'])
  assert.deepEqual(keys(), ['b'])
  words.set('b', [401, '3600'])
  clock.advance(2000)
  assert.equal((await native()).field('retry-after'), '17')
  assert.deepEqual(keys(), ['b'])
  assert.equal((await chat()).field('retry-after'), '17')
  assert.deepEqual(keys(), [])
  assert.equal((await ai.entry(3)).error, 'rate_limited')
  const counts = ai.edge.metrics.ai.keysSetAside
  assert.deepEqual([counts[401].value, counts[429].value], [3, 2])
})

test('when all are at their limits, the caller gets what the provider said of the one that is back first', async t => {
  const answers = new Map([
    ['a', 'Retry-After: 40\r\nx-ratelimit-reset-tokens: 40s\r\nx-should-retry: true\r\n'],
    [
      'b',
      'Retry-After: 7\r\nX-RateLimit-Remaining-Requests: 0\r\nanthropic-ratelimit-tokens-reset: soon\r\nretry-after-ms: 6500\r\nx-should-retry: false\r\nRateLimit-Policy: "b";q=1\r\nX-Account: secret\r\n',
    ],
    ['c', 'Retry-After: 259200\r\nx-ratelimit-limit-tokens: 3\r\n'],
  ])
  const provider = await startResponder(t, request => {
    const key = request.field('authorization')!.slice(7)
    return `HTTP/1.1 429 No\r\n${answers.get(key)}Content-Length: 0\r\n\r\n`
  })
  const clock = new ManualClock()
  const keys = ['a', 'b', 'c']
  const ai = await startAi(t, { openai: { url: provider.url, keys } }, { ...patient, clock })
  const chat = () =>
    ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${ai.token}`))
  const said = (answer: Message) =>
    [
      'retry-after',
      'x-should-retry',
      'x-ratelimit-remaining-requests',
      'x-ratelimit-reset-tokens',
      'anthropic-ratelimit-tokens-reset',
      'retry-after-ms',
      'ratelimit-policy',
      'x-account',
      'x-ratelimit-limit-tokens',
    ].map(name => answer.field(name))
  const first = await chat()
  assert.equal(first.status, 429)
  assert.deepEqual(said(first), ['7', 'false', '0', null, 'soon', '6500', '"b";q=1', null, null])
  assert.equal(JSON.parse(first.text).retry_after, 7)
  clock.advance(5000)
  const second = await chat()
  assert.deepEqual(said(second).slice(0, 6), ['2', 'false', '0', null, 'soon', '1500'])
  assert.equal(provider.requests.length, 3)
  // Those that have said the least are the first to be asked again.
  answers.set('b', 'Retry-After: 9999999\r\n').set('a', 'Retry-After: 999999\r\n')
  clock.advance(35_000)
  for (let i = 0; i < 2; i++) await chat()
  const long = await chat()
  assert.deepEqual(said(long), ['259160', 'true', null, null, null, null, null, null, '3'])
})

test('a wait in milliseconds counts before one in seconds, as in SDKs, and may have decimals', async t => {
  const waits = [
    ['retry-after-ms: 2500', '3', '2500'],
    ['retry-after-ms: 2499.5', '3', '2500'],
    ['Retry-After: 1\r\nretry-after-ms: 9000', '9', '9000'],
    ['Retry-After: 8\r\nretry-after-ms: soon', '8', '8000'],
    [`Retry-After: ${'9'.repeat(400)}\r\nretry-after-ms: soon`, '2147483647', '9007199254740991'],
  ]
  for (const [lines, seconds, milliseconds] of waits) {
    const provider = await startResponder(t, `HTTP/1.1 429 No\r\n${lines}\r\nContent-Length: 0\r\n\r\n`)
    const settings = { ...patient, clock: new ManualClock() }
    const ai = await startAi(t, { openai: { url: provider.url, keys: ['a', 'b'] } }, settings)
    const answer = await ai.edge.ask(
      call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${ai.token}`),
    )
    assert.deepEqual([answer.field('retry-after'), answer.field('retry-after-ms')], [seconds, milliseconds])
  }
})

test('Retry-After may be a date', async t => {
  const { chat, words, clock } = await start(t)
  const date = new Date(clock.now() + 90_000).toUTCString()
  words.set('a', [429, date]).set('b', [429, date])
  const wait = Number((await chat()).field('retry-after'))
  assert.ok(wait >= 89 && wait <= 90, `${wait}`)
})

test('for a key of the caller, and for a single key, the response of the provider is passed on', async t => {
  const { native, words, keys } = await start(t)
  words.set('own', [429, '7'])
  const own = await native('{}', 'Authorization: Bearer own')
  assert.deepEqual([own.status, own.field('retry-after'), own.text], [429, '7', '{}'])
  assert.equal((await native()).status, 200)
  assert.deepEqual(keys(), ['own', 'a'])
  const alone = await start(t, ['a'])
  alone.words.set('a', [401])
  for (let i = 0; i < 2; i++)
    assert.deepEqual([(await alone.chat()).status, (await alone.chat()).text], [401, '{}'])
})

test('a caller with a key of its own is served while all of ours rest', async t => {
  const { native, words, keys } = await start(t)
  words.set('a', [429, '30']).set('b', [429, '30'])
  for (let i = 0; i < 2; i++) assert.equal((await native()).status, 429)
  assert.deepEqual(keys(), ['a', 'b'])
  assert.equal((await native('{}', 'Authorization: Bearer own')).status, 200)
  assert.deepEqual(keys(), ['own'])
})

test('a key that its caller hides from the provider does not count', async t => {
  const { native, words, keys } = await start(t)
  words.set('a', [429, '30'])
  const hidden = ['Authorization: Bearer own', 'Connection: authorization']
  for (let i = 0; i < 3; i++) assert.equal((await native('{}', ...hidden)).status, 200)
  assert.deepEqual(keys(), ['a', 'b', 'b', 'b'])
})

test('a reload remembers which keys rest', async t => {
  const { ai, chat, words, keys } = await start(t)
  words.set('a', [429, '30'])
  await chat()
  ai.edge.reload({ ...ai.edge.config, name: 'another' })
  keys()
  for (let i = 0; i < 2; i++) await chat()
  assert.deepEqual(keys(), ['b', 'b'])
})

test('other failures do not concern the key', async t => {
  const { chat, words, keys } = await start(t)
  words.set('a', [500]).set('b', [403])
  assert.deepEqual([(await chat()).status, (await chat()).status, (await chat()).status], [500, 403, 500])
  assert.deepEqual(keys(), ['a', 'b', 'a'])
})

test('an absurd Retry-After is ignored, so that the back-off grows', async t => {
  const { ai, chat, words, clock } = await start(t)
  words.set('a', [429, '-5']).set('b', [429, '1.x'])
  for (const wait of ['1', '2', '4']) {
    assert.equal((await chat()).field('retry-after'), wait)
    clock.advance(Number(wait) * 1000)
  }
  words.set('a', [429, 'soon\r\nRetry-After: 40\r\nRetry-After: 7']).set('b', [429, '9'.repeat(40)])
  assert.equal((await chat()).field('retry-after'), '40')
  assert.equal(ai.edge.metrics.ai.keysSetAside[429].value, 8)
})

test('a call that its provider refuses with every key disables none for others', async t => {
  const { ai, chat, native, words, keys, clock } = await start(t)
  for (let i = 0; i < 2; i++) assert.equal((await chat()).status, 200)
  // A key at its limit is still known.
  words.set('a', [429, '5'])
  assert.equal((await chat()).status, 200)
  clock.advance(5000)
  words.set('a', [401]).set('b', [401])
  keys()
  const calls = [native, native, () => chat('OpenAI-Organization: org-of-another')]
  for (const call of calls) assert.deepEqual([(await call()).status, keys().toSorted()], [401, ['a', 'b']])
  words.clear()
  for (let i = 0; i < 2; i++) assert.equal((await chat()).status, 200)
  assert.deepEqual(keys().toSorted(), ['a', 'b'])
  assert.equal(ai.edge.metrics.ai.keysSetAside[401].value, 0)
})

test('a key that worked and is revoked rests as soon as a call shows that it is to blame', async t => {
  const { ai, chat, native, words, keys } = await start(t, ['a', 'b', 'c'])
  for (let i = 0; i < 3; i++) assert.equal((await native()).status, 200)
  words.set('a', [401]).set('b', [429, '60'])
  keys()
  assert.equal((await native()).status, 200)
  assert.deepEqual(keys(), ['a', 'b', 'c'])
  for (let i = 0; i < 2; i++) assert.equal((await native()).status, 200)
  assert.deepEqual(keys(), ['c', 'c'])
  // On a plain call of the REST API nothing is the caller's but the body.
  words.set('c', [401])
  assert.deepEqual([(await chat()).status, keys()], [429, ['c']])
  const counts = ai.edge.metrics.ai.keysSetAside
  assert.deepEqual([counts[401].value, counts[429].value], [2, 1])
})

test('a reload with other keys keeps the state of those that stay, also from calls under way', async t => {
  const held = Promise.withResolvers<void>()
  const seen: string[] = []
  const provider = await startResponder(t, async request => {
    const key = request.field('authorization')!.slice(7)
    seen.push(key)
    if (request.text !== '{"held":1}' || key !== 'b') return json(completion)
    await held.promise
    return 'HTTP/1.1 429 No\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n'
  })
  const ai = await startAi(t, { openai: { url: provider.url, keys: ['a', 'b'] } })
  const native = (body: string) =>
    ai.edge.ask(call(`${ai.native('openai')}/x`, body, `svc-aig-authorization: Bearer ${ai.token}`))
  await native('{}')
  const slow = native('{"held":1}')
  await turnsUntil(() => seen.length >= 2)
  const { ai: settings } = ai.edge.config
  const providers = settings.providers.map(one => ({ ...one, keys: ['c', 'b'] }))
  ai.edge.reload({ ...ai.edge.config, ai: { ...settings, providers } })
  held.resolve()
  assert.equal((await slow).status, 200)
  for (let i = 0; i < 3; i++) await native('{}')
  assert.deepEqual(seen, ['a', 'b', 'a', 'c', 'c', 'c'])
})

test('a hundred concurrent calls while keys flap each get one response, with no more attempts than there are keys', async t => {
  const tries = new Map<string, number>()
  let count = 0
  const statuses = [200, 429, 401, 200, 429, 200, 401]
  const provider = await startResponder(t, request => {
    tries.set(request.text, (tries.get(request.text) ?? 0) + 1)
    const status = statuses[count++ % statuses.length]
    return status === 200 ? json(completion) : `HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`
  })
  const keys = ['a', 'b', 'c', 'd']
  const ai = await startAi(t, { openai: { url: provider.url, keys } })
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      ai.edge.ask(
        call(`${ai.native('openai')}/x`, `{"i":${i}}`, `svc-aig-authorization: Bearer ${ai.token}`),
      ),
    ),
  )
  for (const answer of answers) {
    if (answer.status === 200) assert.equal(answer.text, JSON.stringify(completion))
    else if (answer.text === '') assert.ok(answer.status === 401 || answer.status === 429)
    else assert.match(answer.field('retry-after')!, /^[1-9]\d*$/)
  }
  assert.ok(Math.max(...tries.values()) <= keys.length)
  assert.equal(ai.edge.metrics.ai.bodyBytes.value, 0)
})
