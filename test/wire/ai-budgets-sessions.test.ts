// Spend limits over Realtime sessions: each response is reserved before it can begin, and charged what it used.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import type { SpendRule } from '../../src/store/records/budget-rule.ts'
import { startAi } from '../help/ai.ts'
import { hasty, prices, rule, spentOf } from '../help/budgeted.ts'
import { until } from '../help/until.ts'

const priced = [{ ...prices[0]!, model: 'openai/gpt-realtime' }]
const tokens = (limit: number): SpendRule => rule({ id: 'tokens', unit: 'tokens', limit })
const done = (input: number, output: number) => ({
  type: 'response.done',
  response: { usage: { input_tokens: input, output_tokens: output } },
})
const created = { type: 'response.created', response: { id: 'r' } }
/** What a response reserves before anything was said, and after little was. */
const silent = 4_096
const first = silent + 2_048

interface Event {
  readonly type: string
  readonly error?: { readonly message: string }
}

/** Opens a session with a provider that answers each event as the script says. */
async function open(
  t: TestContext,
  rules: readonly SpendRule[],
  answer: (event: Event) => readonly object[],
) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  t.after(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  await once(server, 'listening')
  const heard: Event[] = []
  server.on('connection', socket =>
    socket.on('message', data => {
      const event = JSON.parse(String(data)) as Event
      heard.push(event)
      for (const one of answer(event)) socket.send(JSON.stringify(one))
    }),
  )
  const { port } = server.address() as AddressInfo
  const ai = await startAi(
    t,
    { openai: { url: `http://127.0.0.1:${port}`, keys: ['sk-a'] } },
    { ai: { prices: priced }, gateway: { spendLimits: { isEnabled: true, rules } }, budgets: hasty },
  )
  const connect = (path = '/realtime?model=gpt-realtime') => {
    const socket = new WebSocket(`ws://127.0.0.1:${ai.edge.port}${ai.native('openai')}${path}`, {
      headers: { 'svc-aig-authorization': `Bearer ${ai.token}` },
    })
    t.after(() => socket.terminate())
    const seen: Event[] = []
    socket.on('message', data => void seen.push(JSON.parse(String(data))))
    const closed = once(socket, 'close').then(([code, reason]) => [code, String(reason)])
    const refused = once(socket, 'unexpected-response').then(([, response]) => response.statusCode as number)
    closed.catch(() => {})
    refused.catch(() => {})
    const say = (event: object) => socket.send(JSON.stringify(event))
    return { socket, seen, say, closed, refused }
  }
  return { ai, heard, connect, server }
}

const spent = (ai: Parameters<typeof spentOf>[0]) => spentOf(ai, 'gpt-realtime')
const create = { type: 'response.create' }
const responds = (event: Event) => (event.type === 'response.create' ? [created, done(100, 50)] : [])

for (const [unit, one, amount] of [
  ['tokens', tokens(1_000_000), 300],
  ['dollars', rule(), 2 * (100 * 1000 + 50 * 10_000)],
] as const)
  test(`a session is charged in ${unit} what its responses used`, async t => {
    const { ai, connect } = await open(t, [one], responds)
    const { socket, seen, say } = connect()
    await once(socket, 'open')
    say(create)
    say(create)
    await until(() => seen.length === 4)
    socket.close()
    assert.equal(await spent(ai), amount)
  })

test('a session without a response is charged nothing', async t => {
  const { ai, connect } = await open(t, [tokens(1_000_000)], responds)
  const { socket, say } = connect()
  await once(socket, 'open')
  say({ type: 'session.update', session: { instructions: 'Be kind.' } })
  socket.close()
  assert.equal(await spent(ai), 0)
})

test('a session of whose first response the worst case does not fit is refused', async t => {
  const { connect, heard } = await open(t, [tokens(silent - 1)], responds)
  assert.equal(await connect().refused, 403)
  assert.equal(heard.length, 0)
})

test('a response that does not fit is not asked for: the client gets an error, and the session ends', async t => {
  const { ai, connect, heard } = await open(t, [tokens(2 * first + 10)], responds)
  const { socket, seen, say, closed } = connect()
  await once(socket, 'open')
  say(create)
  await until(() => seen.length === 2)
  say(create)
  const [code, reason] = (await closed) as [number, string]
  assert.deepEqual([code, reason], [1008, 'spend limit reached: the next response does not fit'])
  assert.deepEqual(
    seen.map(({ type }) => type),
    ['response.created', 'response.done', 'error'],
  )
  assert.equal(seen[2]!.error!.message, reason)
  assert.equal(heard.length, 1)
  assert.equal(await spent(ai), 150)
})

test('a response that the provider begins by itself is reserved, and the session ends where the next one does not fit', async t => {
  const heardSpeech = (event: Event) =>
    event.type === 'input_audio_buffer.append' ? [created, done(4_000, 2_000)] : []
  const { ai, connect } = await open(t, [tokens(2 * first)], heardSpeech)
  const { socket, seen, say, closed } = connect()
  await once(socket, 'open')
  say({ type: 'input_audio_buffer.append', audio: 'AAAA' })
  assert.equal(((await closed) as [number])[0], 1008)
  assert.deepEqual(seen.map(({ type }) => type).slice(0, 2), ['response.created', 'response.done'])
  assert.equal(await spent(ai), 6_000)
})

test('a response that has not ended is charged all that it may take', async t => {
  const { ai, connect, heard } = await open(t, [tokens(1_000_000)], () => [created])
  const { socket, seen, say } = connect()
  await once(socket, 'open')
  say(create)
  await until(() => seen.length === 1)
  assert.equal(heard.length, 1)
  socket.terminate()
  assert.equal(await spent(ai), first)
})

test('an event that does not fit and is not passed on makes no open response dearer', async t => {
  const { ai, connect, heard } = await open(t, [tokens(3 * first)], () => [created])
  const { socket, seen, say, closed } = connect()
  await once(socket, 'open')
  say(create)
  await until(() => seen.length === 1)
  say({ type: 'session.update', session: { instructions: 'x'.repeat(100_000), max_output_tokens: 9_000 } })
  assert.equal(((await closed) as [number])[0], 1008)
  assert.equal(heard.length, 1)
  assert.equal(await spent(ai), first)
})

test('a response whose use its provider does not say is charged all that it may take, unless it failed', async t => {
  const ends = [
    { status: 'failed' },
    { status: 'completed', usage: null },
    { status: 'cancelled', usage: {} },
  ]
  const { ai, connect } = await open(t, [tokens(1_000_000)], () => [
    created,
    { type: 'response.done', response: ends.shift() },
  ])
  const { socket, seen, say } = connect()
  await once(socket, 'open')
  for (const count of [2, 4, 6]) {
    say(create)
    await until(() => seen.length === count)
  }
  socket.close()
  // What the first may have written is input of the second.
  assert.equal(await spent(ai), 2 * first + silent)
})

test('a session has the settings that its provider says: a secret may have chosen them', async t => {
  const settings = { max_response_output_tokens: 50_000, input_audio_format: 'g711_ulaw' }
  const { connect } = await open(t, [tokens(2 * 50_000)], event =>
    event.type === 'response.create' ? [{ type: 'session.created', session: settings }] : [],
  )
  const { socket, say, closed } = connect()
  await once(socket, 'open')
  say(create)
  const [code, reason] = (await closed) as [number, string]
  assert.deepEqual([code, reason], [1008, 'spend limit reached: the next response does not fit'])
})

test('a session whose messages cannot be read ends', async t => {
  const { connect } = await open(t, [tokens(1_000_000)], responds)
  const { socket, closed } = connect()
  await once(socket, 'open')
  const { _socket: raw } = socket as unknown as { _socket: { write(bytes: Buffer): void } }
  // Without a mask.
  raw.write(Buffer.from([0x81, 2, 0x7b, 0x7d]))
  assert.equal(((await closed) as [number])[0], 1003)
})

test('a session of another API is refused', async t => {
  const { connect } = await open(t, [tokens(1_000_000)], responds)
  assert.equal(await connect('/v1/responses').refused, 403)
})

test('calls at a time alone do not read sessions', async t => {
  const { connect, ai } = await open(t, [rule({ unit: 'concurrency', limit: 1, window: null })], responds)
  const { socket, seen, say } = connect('/v1/responses')
  await once(socket, 'open')
  say(create)
  await until(() => seen.length === 2)
  assert.equal(await connect().refused, 429)
  socket.close()
  assert.equal(await spent(ai), 0)
})
