// AI calls with an Idempotency-Key: made once, whoever asks again, and never again if nobody knows whether they were made.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import { type AiEdge, type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { type Origin, startOrigin } from '../help/origin.ts'
import type { Message, Wire } from '../help/raw.ts'
import { startRedis } from '../help/redis.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { until } from '../help/until.ts'

const once = { hasIdempotencyKeys: true }

interface Setup {
  readonly ai: AiEdge
  readonly provider: Origin
  /** Lets the calls that have come go on. */
  readonly release: () => void
  readonly texts: () => readonly Message[]
  ask(key: string, more?: Partial<Ask>): Promise<Message>
  send(key: string, more?: Partial<Ask>): Promise<Wire>
}

interface Ask {
  readonly text: string
  readonly token: string
  readonly path: string
  readonly at: AiEdge
  readonly fields: readonly string[]
}

const prompt = (content = 'Hi', more: object = {}) =>
  JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content }], ...more })

/** Starts an edge whose provider responds once it is released, with what `respond` makes. */
async function start(
  t: TestContext,
  settings: AiSettings = {},
  respond = (n: number) => json({ ...completion, id: `c-${n}` }),
  isHeld = false,
): Promise<Setup> {
  const requests: Message[] = []
  const gate = Promise.withResolvers<void>()
  if (!isHeld) gate.resolve()
  const provider = await startOrigin(t, async wire => {
    for (;;) {
      const request = await wire.request()
      const n = requests.push(request)
      await gate.promise
      await wire.send(respond(n))
    }
  })
  const ai = await startAi(
    t,
    { openai: { url: provider.url, keys: ['sk-operator'] } },
    { ...settings, gateway: { ...once, ...settings.gateway } },
  )
  const textOf = (key: string, more: Partial<Ask> = {}) => {
    const { text = prompt(), token = ai.token, path = '/v1/chat/completions', fields = [] } = more
    const about = [`Authorization: Bearer ${token}`, `Idempotency-Key: ${key}`, ...fields]
    return call(`${ai.rest}${path}`, text, ...about)
  }
  return {
    ...{ ai, provider, release: () => gate.resolve(), texts: () => requests },
    ask: (key, more = {}) => (more.at ?? ai).edge.ask(textOf(key, more)),
    send: async (key, more = {}) => {
      const wire = await (more.at ?? ai).edge.connect()
      await wire.send(textOf(key, more))
      return wire
    },
  }
}

const counted = (ai: AiEdge) =>
  Object.fromEntries(
    Object.entries(ai.edge.metrics.answers.once).flatMap(([name, { value }]) =>
      value === 0 ? [] : [[name, value]],
    ),
  )
const replayed = (message: Message) => message.field('svc-aig-idempotency-replayed')
const idOf = (message: Message) => JSON.parse(message.text).id as string
const faultOf = (message: Message) => JSON.parse(message.text).errors[0].message as string

test('a second call with the same key gets the response of the first, and its provider no key', async t => {
  const { ask, texts, ai } = await start(t)
  const first = await ask('k-1')
  assert.equal(replayed(first), null)
  const second = await ask('k-1')
  assert.deepEqual([second.status, second.text, replayed(second)], [200, first.text, 'true'])
  assert.equal(second.field('content-type'), 'application/json')
  assert.equal(texts().length, 1)
  assert.equal(texts()[0]!.field('idempotency-key'), null)
  assert.equal(idOf(await ask('k-2')), 'c-2')
  // By their tokens: two that begin in one millisecond have no order.
  const entries = (await ai.logged(3)).toSorted((a, b) => a.tokensIn! - b.tokensIn!)
  assert.deepEqual(
    entries.map(({ cached, tokensIn, tokensOut }) => [cached, tokensIn, tokensOut]),
    [
      [true, 0, 0],
      [false, 9, 3],
      [false, 9, 3],
    ],
  )
  assert.equal(entries[0]!.cost, 0)
  assert.ok(entries[1]!.cost! > 0)
})

test('a call whose response was deleted is refused, and not made again', async t => {
  const { ask, texts, ai } = await start(t)
  await ask('k-1')
  await ai.change({ answersSince: Date.now() })
  await until(async () => (await ask('k-1')).status === 422)
  assert.match(faultOf(await ask('k-1')), /was made, but its response is not stored any more/)
  assert.equal(texts().length, 1)
  assert.equal(idOf(await ask('k-2')), 'c-2')
})

test('without the setting, the field is passed on, and each call is made', async t => {
  const { ask, texts } = await start(t, { gateway: { hasIdempotencyKeys: false } })
  assert.deepEqual([idOf(await ask('k')), idOf(await ask('k'))], ['c-1', 'c-2'])
  assert.equal(texts()[0]!.field('idempotency-key'), 'k')
})

test('another body, or another endpoint, under the same key is 422, also while the first is under way', async t => {
  const { ask, send, texts, release, ai } = await start(t, {}, undefined, true)
  const first = await send('k')
  await until(() => texts().length === 1)
  const early = await ask('k', { text: prompt('Hello') })
  assert.equal(early.status, 422)
  assert.match(faultOf(early), /already used for another body or endpoint, or with another credential/)
  release()
  assert.equal((await first.response('POST')).status, 200)
  assert.equal((await ask('k', { text: prompt('Hello') })).status, 422)
  assert.equal(
    (await ask('k', { path: '/v1/embeddings', text: '{"model":"openai/e","input":"Hi"}' })).status,
    422,
  )
  assert.equal((await ask('k')).status, 200)
  assert.equal(texts().length, 1)
  assert.deepEqual(counted(ai), { made: 1, conflict: 3, replayed: 1 })
})

test('equal keys of other tokens are other calls', async t => {
  const { ask, ai, texts } = await start(t)
  const other = await ai.mint()
  assert.deepEqual([idOf(await ask('k')), idOf(await ask('k', { token: other }))], ['c-1', 'c-2'])
  assert.equal(replayed(await ask('k', { token: other })), 'true')
  assert.equal(texts().length, 2)
})

test('a guard that is set while a call is under way keeps its response from repetitions', async t => {
  const gate = Promise.withResolvers<void>()
  let calls = 0
  const provider = await startOrigin(t, async wire => {
    for (;;) {
      await wire.request()
      if (++calls === 1) await gate.promise
      await wire.send(json(completion))
    }
  })
  const ai = await startAi(t, { openai: { url: provider.url, keys: ['sk'] } }, { gateway: once })
  const textOf = (key: string) =>
    call(
      `${ai.rest}/v1/chat/completions`,
      prompt(key === 'k' ? 'Hi' : '4111 1111 1111 1111'),
      ...[`Authorization: Bearer ${ai.token}`, `Idempotency-Key: ${key}`],
    )
  const first = await ai.edge.connect()
  await first.send(textOf('k'))
  await until(() => calls === 1)
  const rule = { id: 'all', isEnabled: true, action: 'block', checks: ['request'], patterns: ['*'] } as const
  await ai.change({ guard: { isEnabled: true, rules: [rule] } })
  await until(async () => (await ai.edge.ask(textOf(`other-${calls}`))).status === 403)
  const before = calls
  const second = await ai.edge.ask(textOf('k'))
  assert.equal(second.status, 409)
  assert.match(faultOf(second), /is still under way: send this one again later/)
  gate.resolve()
  assert.equal((await first.response('POST')).status, 200)
  await until(async () => (await ai.edge.ask(textOf('k'))).status === 422)
  assert.equal(calls, before)
})

test('another coding, or another credential for the provider, under the same key is 422', async t => {
  const { ai, texts } = await start(t)
  const path = `${ai.native('openai')}/v1/chat/completions`
  const ask = (...fields: string[]) =>
    ai.edge.ask(
      call(path, prompt(), `svc-aig-authorization: Bearer ${ai.token}`, 'Idempotency-Key: k', ...fields),
    )
  const own = 'Authorization: Bearer sk-one'
  assert.equal((await ask(own)).status, 200)
  for (const fields of [[own, 'Content-Encoding: br'], ['Authorization: Bearer sk-two'], []])
    assert.equal((await ask(...fields)).status, 422, fields.join())
  assert.equal(replayed(await ask(own)), 'true')
  assert.equal(texts().length, 1)
})

test('a token with too many keys gets no more until the first expires, and others have theirs', async t => {
  const { ask, ai, texts } = await start(t)
  const { claims } = ai.store
  const { claim } = claims
  let bounds = { maxOfOwner: 2, maxClaims: 99 }
  t.mock.method(claims, 'claim', (ask: Parameters<typeof claim>[0]) =>
    claim.call(claims, { ...ask, ...bounds }),
  )
  for (const key of ['a', 'b']) assert.equal((await ask(key)).status, 200)
  const refused = await ask('c')
  assert.equal(refused.status, 429)
  assert.match(faultOf(refused), /This token, or this user of an app, has made 20000 calls with an/)
  const wait = Number(refused.field('retry-after'))
  assert.ok(wait > 86_300 && wait <= 86_400, `${wait}`)
  assert.equal(refused.field('x-should-retry'), 'false')
  assert.equal(replayed(await ask('a')), 'true')
  const other = await ai.mint()
  assert.equal((await ask('c', { token: other })).status, 200)
  bounds = { maxOfOwner: 99, maxClaims: 3 }
  const full = await ask('d', { token: other })
  assert.equal(full.status, 503)
  assert.match(faultOf(full), /The account has made 100000 calls with an Idempotency-Key/)
  assert.ok(Number(full.field('retry-after')) > 86_300)
  assert.equal(texts().length, 3)
  assert.equal(counted(ai).full, 2)
})

test('a key that cannot be read, and one without a token, is refused by name', async t => {
  const { ask, ai } = await start(t)
  for (const key of ['', 'k\r\nIdempotency-Key: k', 'k'.repeat(256), 'k\xe9']) {
    const refused = await ask(key)
    assert.equal(refused.status, 400, key)
    assert.match(faultOf(refused), /Idempotency-Key must be given once, as 1 to 255 printable ASCII/)
  }
  await ai.change({ authentication: false })
  const path = `${ai.native('openai')}/chat/completions`
  await until(async () => {
    const open = await ai.edge.ask(call(path, prompt(), 'Authorization: Bearer sk', 'Idempotency-Key: k'))
    return open.status === 400 && /needs a token of this gateway/.test(open.text)
  })
})

test('a call whose caller leaves runs to its end, and its repetition gets all of it', async t => {
  const { send, ask, texts, release, ai } = await start(t, {}, undefined, true)
  const first = await send('k')
  await until(() => texts().length === 1)
  first.reset()
  await until(() => ai.edge.plane.abandoned.size === 1)
  const second = send('k').then(wire => wire.response('POST'))
  release()
  const message = await second
  assert.deepEqual([message.status, replayed(message), idOf(message)], [200, 'true', 'c-1'])
  await until(() => ai.edge.plane.abandoned.size === 0)
  assert.equal(idOf(await ask('k')), 'c-1')
  assert.equal(texts().length, 1)
  const { made, joined = 0, replayed: again = 0 } = counted(ai)
  assert.deepEqual([made, joined + again], [1, 2])
})

test('a stream is joined from its beginning, and replayed as one', async t => {
  const events = [
    '{"choices":[{"delta":{"content":"A"}}]}',
    '{"choices":[{"delta":{"content":"B"}}]}',
    '[DONE]',
  ]
  const parts = events.map(event => `data: ${event}\n\n`)
  const go = Promise.withResolvers<void>()
  let calls = 0
  const provider = await startOrigin(t, async wire => {
    await wire.request()
    calls++
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
    await wire.send(
      `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(parts[0]!)}`,
    )
    await go.promise
    await wire.send(`${chunk(parts[1]!)}${chunk(parts[2]!)}0\r\n\r\n`)
  })
  const ai = await startAi(t, { openai: { url: provider.url, keys: ['sk'] } }, { gateway: once })
  const text = call(
    `${ai.rest}/v1/chat/completions`,
    prompt('Hi', { stream: true }),
    ...[`Authorization: Bearer ${ai.token}`, 'Idempotency-Key: k'],
  )
  const [first, second] = [await ai.edge.connect(), await ai.edge.connect()]
  await first.send(text)
  await first.until('"A"')
  await second.send(text)
  await second.until('"A"')
  go.resolve()
  await second.until('[DONE]')
  await first.until('[DONE]')
  const third = await ai.edge.ask(text)
  assert.deepEqual([third.field('content-type'), replayed(third)], ['text/event-stream', 'true'])
  assert.match(third.text, /"A".*"B".*\[DONE\]/s)
  assert.equal(calls, 1)
})

for (const status of [400, 429, 500, 503])
  test(`after a response with status ${status} the key is free, as nothing was done`, async t => {
    const { ask, texts } = await start(t, {}, n =>
      n === 1 ? json({ error: { message: 'No.' } }).replace('200 OK', `${status} No`) : json(completion),
    )
    const first = await ask('k')
    assert.equal(first.status, status)
    await until(async () => (await ask('k')).status === 200)
    assert.equal(replayed(await ask('k')), 'true')
    assert.equal(texts().length, 2)
  })

test('a response that breaks off is not made again, and told as such', async t => {
  let calls = 0
  const provider = await startOrigin(t, async wire => {
    await wire.request()
    calls++
    await wire.send('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{')
    wire.leave()
  })
  const ai = await startAi(t, { openai: { url: provider.url, keys: ['sk'] } }, { gateway: once })
  const text = call(
    `${ai.rest}/v1/chat/completions`,
    prompt(),
    ...[`Authorization: Bearer ${ai.token}`, 'Idempotency-Key: k'],
  )
  const first = await ai.edge.connect()
  await first.send(text)
  await first.rest()
  const second = await ai.edge.ask(text)
  assert.equal(second.status, 422)
  assert.match(faultOf(second), /The response to the call [0-9a-f]+ with this Idempotency-Key broke off/)
  assert.equal(calls, 1)
})

const stores = {
  sqlite: async (t: TestContext) => `sqlite:${quickFolder(t, 'store')}/gatehouse.db`,
  Redis: async (t: TestContext) => (await startRedis(t, { aof: 'always' })).url,
}

for (const [name, place] of Object.entries(stores)) {
  test(`${name}: of 64 callers of two processes, one is let through, and all get its response`, async t => {
    const storeUrl = await place(t)
    const { ask, texts, ai, release, provider } = await start(
      t,
      { storeUrl, commandTimeout: 5_000 },
      undefined,
      true,
    )
    const store = await openStore(storeUrl, { commandTimeout: 5_000 })
    const at = await startAi(
      t,
      { openai: { url: provider.url, keys: ['sk-operator'] } },
      { given: { store, account: ai.account } },
    )
    t.after(() => store.close())
    const asking = Array.from({ length: 64 }, (_, i) => ask('k', i % 2 === 0 ? {} : { at }))
    await until(() => texts().length === 1)
    release()
    const messages = await Promise.all(asking)
    assert.deepEqual([...new Set(messages.map(({ status }) => status))], [200])
    assert.deepEqual([...new Set(messages.map(idOf))], ['c-1'])
    assert.equal(messages.filter(message => replayed(message) === null).length, 1)
    assert.equal(texts().length, 1)
  })
}

test('while the store is unreachable no call is made, and the key is free again after that', async t => {
  const server = await startRedis(t, { aof: 'always' })
  const { ask, texts, ai } = await start(t, { storeUrl: server.url, commandTimeout: 500 })
  assert.equal((await ask('first')).status, 200)
  assert.equal(replayed(await ask('first')), 'true')
  await server.kill()
  const refused = await ask('k')
  assert.equal(refused.status, 503)
  assert.equal(texts().length, 1)
  await server.restart()
  await until(() => !ai.store.isUnreachable)
  await until(async () => (await ask('k')).status === 200)
  assert.equal(replayed(await ask('first')), 'true')
})

test('a call whose process has ended is told as lost, and not made again', async t => {
  const { ask, ai, texts } = await start(t)
  assert.equal((await ask('k')).status, 200)
  const claims = ai.store.claims
  const { claim } = claims
  t.mock.method(claims, 'claim', async (ask: Parameters<typeof claim>[0]) => {
    // The one who had it is gone.
    await claim.call(claims, { ...ask, holder: 'gone.1', lease: 0, note: 'ray-of-another -' })
    return claim.call(claims, ask)
  })
  const lost = await ask('lost')
  assert.equal(lost.status, 422)
  assert.match(faultOf(lost), /It is unknown whether the call ray-of-another .* was made/)
  assert.deepEqual(counted(ai), { made: 1, lost: 1 })
  assert.equal(texts().length, 1)
})
