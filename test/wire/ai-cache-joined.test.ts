// Equal AI calls at one time: they are one call, whoever leaves, and what its response becomes.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AiEdge, type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { AnswerRoom } from '../../src/answers/answer-room.ts'
import { type Origin, startOrigin } from '../help/origin.ts'
import { chunks, type Wire } from '../help/raw.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'

const streamHead = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'

const prompt = (more: object = {}) =>
  JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }], ...more })

const event = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`

interface Setup {
  readonly ai: AiEdge
  readonly provider: Origin
  /** The connections with a request, in the order in which the provider got it. */
  readonly asked: Wire[]
  /** Sends a call on a connection of its own. */
  send(text?: string, ...fields: string[]): Promise<Wire>
  /** Waits until so many calls wait for another one, or go to the provider. */
  waiting(count: number): Promise<void>
}

async function start(t: TestContext, settings: AiSettings = {}): Promise<Setup> {
  const asked: Wire[] = []
  const provider = await startOrigin(t, async wire => {
    for (;;) {
      await wire.request()
      asked.push(wire)
    }
  })
  const ai = await startAi(
    t,
    { openai: { url: provider.url, keys: ['sk-operator'] } },
    { ...settings, gateway: { cacheTtl: 3600, streamUsage: false, ...settings.gateway } },
  )
  const send = async (text = prompt(), ...fields: string[]) => {
    const client = await ai.edge.connect()
    await client.send(
      call(`${ai.rest}/v1/chat/completions`, text, `Authorization: Bearer ${ai.token}`, ...fields),
    )
    return client
  }
  const { allowed } = ai.edge.metrics.ai
  const waiting = (count: number) => until(() => allowed.authenticated.value >= count)
  return { ai, provider, asked, send, waiting }
}

const crowd = thorough(1_000, 200)

test(`${crowd} callers of one question are one call`, async t => {
  const { ai, asked, send, waiting } = await start(t)
  const clients = await Promise.all(Array.from({ length: crowd }, () => send()))
  await waiting(crowd)
  await until(() => asked.length > 0)
  await asked[0]!.send(json(completion))
  const responses = await Promise.all(clients.map(client => client.response()))
  const statuses = responses.map(response => response.field('svc-aig-cache-status'))
  assert.deepEqual(
    [statuses.filter(status => status === 'MISS').length, statuses.filter(status => status === 'HIT').length],
    [1, crowd - 1],
  )
  for (const { text, status } of responses) assert.deepEqual([status, JSON.parse(text)], [200, completion])
  assert.equal(asked.length, 1)
  const { calls } = ai.edge.metrics.answers
  assert.deepEqual([calls.miss.value, calls.join.value + calls.hit.value], [1, crowd - 1])
})

test('a response that the guard blocks is refused to all who wait for it, by one call', async t => {
  const rule = { id: 'all', isEnabled: true, action: 'block', checks: ['response'], patterns: ['*'] } as const
  const { asked, send, waiting } = await start(t, { gateway: { guard: { isEnabled: true, rules: [rule] } } })
  const clients = await Promise.all(Array.from({ length: 20 }, () => send()))
  await waiting(20)
  await until(() => asked.length > 0)
  const message = { role: 'assistant', content: '4111 1111 1111 1111' }
  await asked[0]!.send(json({ ...completion, choices: [{ ...completion.choices[0], message }] }))
  for (const client of clients) {
    const { status, text } = await client.response()
    assert.equal(status, 403)
    assert.match(text, /2030/)
    assert.doesNotMatch(text, /\b4111\b/)
  }
  assert.equal(asked.length, 1)
})

test('those who join a stream get what came, and the rest as it comes', async t => {
  const { asked, send } = await start(t)
  const stream = prompt({ stream: true })
  const first = await send(stream)
  await until(() => asked.length === 1)
  const wire = asked[0]!
  await wire.send(streamHead + chunks(event('one')))
  await first.until('"content":"one"')
  const second = await send(stream)
  await second.until('"content":"one"')
  await wire.send(chunks(event('two')))
  await Promise.all([first, second].map(client => client.until('"content":"two"')))
  await wire.send(`${chunks('data: [DONE]\n\n')}0\r\n\r\n`)
  await Promise.all([first, second].map(client => client.until('data: [DONE]\n\n\r\n0\r\n\r\n')))
  const third = await send(stream)
  const replayed = await third.response()
  assert.equal(replayed.field('svc-aig-cache-status'), 'HIT')
  assert.equal(replayed.field('content-type'), 'text/event-stream')
  assert.equal(replayed.text, `${event('one')}${event('two')}data: [DONE]\n\n`)
  assert.equal(asked.length, 1)
})

for (const when of ['before its response', 'during its response'] as const)
  test(`the call goes on for others when its caller leaves ${when}`, async t => {
    const { ai, asked, send, waiting } = await start(t)
    const stream = prompt({ stream: true })
    const first = await send(stream)
    await until(() => asked.length === 1)
    const wire = asked[0]!
    const second = await send(stream)
    await waiting(2)
    if (when === 'during its response') {
      await wire.send(streamHead + chunks(event('one')))
      await Promise.all([first, second].map(client => client.until('"content":"one"')))
    }
    first.reset()
    await until(() => ai.edge.metrics.clientAborts.value >= 1)
    if (when === 'before its response') await wire.send(streamHead + chunks(event('one')))
    await wire.send(`${chunks(event('two'), 'data: [DONE]\n\n')}0\r\n\r\n`)
    await second.until('data: [DONE]\n\n\r\n0\r\n\r\n')
    assert.equal(asked.length, 1)
    const third = await send(stream)
    assert.equal((await third.response()).field('svc-aig-cache-status'), 'HIT')
    const entries = await ai.logged(3)
    const seen = entries.map(({ success, cached }) => [success, cached])
    assert.deepEqual(seen.sort(), [
      [true, false],
      [true, true],
      [true, true],
    ])
  })

test('the call is aborted when all have left', async t => {
  const { asked, send, waiting } = await start(t)
  const clients = [await send()]
  await until(() => asked.length === 1)
  clients.push(await send(), await send())
  await waiting(3)
  for (const client of clients) client.reset()
  await asked[0]!.ending
  const again = await send()
  await until(() => asked.length === 2)
  await asked[1]!.send(json(completion))
  assert.equal((await again.response()).field('svc-aig-cache-status'), 'MISS')
})

test('of 64 callers the first and all but one other may leave', async t => {
  const { ai, asked, send, waiting } = await start(t)
  const first = await send()
  await until(() => asked.length === 1)
  const others = await Promise.all(Array.from({ length: 63 }, () => send()))
  await waiting(64)
  const last = others.pop()!
  for (const client of [first, ...others]) client.reset()
  await until(() => ai.edge.metrics.clientAborts.value >= 63)
  await asked[0]!.send(json(completion))
  assert.deepEqual(JSON.parse((await last.response()).text), completion)
  assert.equal(asked.length, 1)
})

test('an error of the provider is that of all, and is not stored', async t => {
  const { asked, send, waiting } = await start(t)
  const first = await send()
  await until(() => asked.length === 1)
  const second = await send()
  await waiting(2)
  await asked[0]!.send(
    'HTTP/1.1 429 No\r\nContent-Type: application/json\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}',
  )
  for (const client of [first, second]) {
    const response = await client.response()
    assert.deepEqual([response.status, response.field('retry-after')], [429, '7'])
  }
  const third = await send()
  await until(() => asked.length === 2)
  await asked[1]!.send(json(completion))
  assert.equal((await third.response()).field('svc-aig-cache-status'), 'MISS')
})

test('a caller with further attempts makes them after the error of another one', async t => {
  const { asked, send, waiting } = await start(t)
  const first = await send()
  await until(() => asked.length === 1)
  const second = await send(prompt(), 'svc-aig-max-attempts: 2', 'svc-aig-retry-delay: 0')
  await waiting(2)
  await asked[0]!.send('HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n')
  assert.equal((await first.response()).status, 503)
  await until(() => asked.length === 2)
  await asked[1]!.send(json(completion))
  assert.equal((await second.response()).status, 200)
})

test('when a call breaks off before its response, the others are made by themselves', async t => {
  const { asked, send, waiting } = await start(t)
  const first = await send()
  await until(() => asked.length === 1)
  const second = await send()
  await waiting(2)
  asked[0]!.reset()
  await until(() => asked.length === 2)
  await asked[1]!.send(json(completion))
  const responses = await Promise.all([first.response(), second.response()])
  assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 520])
})

test('a stream that breaks off ends for all with an error event, and is not stored', async t => {
  const { asked, send } = await start(t)
  const stream = prompt({ stream: true })
  const first = await send(stream)
  await until(() => asked.length === 1)
  await asked[0]!.send(streamHead + chunks(event('one')))
  await first.until('"content":"one"')
  const second = await send(stream)
  await second.until('"content":"one"')
  asked[0]!.reset()
  for (const client of [first, second]) assert.match(await client.until('0\r\n\r\n'), /"error"/)
  const third = await send(stream)
  await until(() => asked.length === 2)
  await asked[1]!.send(`${streamHead}${chunks(event('x'))}0\r\n\r\n`)
  await third.until('0\r\n\r\n')
  const fourth = await send(stream)
  await until(() => asked.length === 3)
  fourth.leave()
})

test('a caller that reads slowly holds up nobody else', async t => {
  const { asked, send, waiting } = await start(t)
  const first = await send()
  await until(() => asked.length === 1)
  const second = await send()
  await waiting(2)
  first.socket.pause()
  const long = { ...completion, system_fingerprint: 'x'.repeat(900_000) }
  await asked[0]!.send(json(long))
  assert.equal(JSON.parse((await second.response()).text).system_fingerprint.length, 900_000)
  first.socket.resume()
  assert.equal((await first.response()).body.length, JSON.stringify(long).length)
})

test('a response that is too large to be reused still reaches all who joined before', async t => {
  const { asked, send, waiting } = await start(t)
  const first = await send()
  await until(() => asked.length === 1)
  const second = await send()
  await waiting(2)
  const large = json({ ...completion, system_fingerprint: 'x'.repeat(3_000_000) })
  await asked[0]!.send(large)
  const responses = await Promise.all([first.response(), second.response()])
  assert.deepEqual(
    responses.map(({ body }) => body.length),
    [responses[0]!.body.length, responses[0]!.body.length],
  )
  const third = await send()
  await until(() => asked.length === 2)
  await asked[1]!.send(json(completion))
  assert.equal((await third.response()).field('svc-aig-cache-status'), 'MISS')
})

test('once too much is on its way, responses are passed on without being kept', async t => {
  const room = new AnswerRoom(100_000)
  const { ai, asked, send } = await start(t, { room, gateway: { hasIdempotencyKeys: true } })
  const stream = prompt({ stream: true })
  const first = await send(stream)
  await until(() => asked.length === 1)
  await asked[0]!.send(streamHead + chunks(event('x'.repeat(60_000))))
  await first.until('xxx')
  await until(() => room.isTight)
  const refused = await send(prompt(), 'Idempotency-Key: k')
  assert.equal((await refused.response()).status, 503)
  assert.equal(ai.edge.metrics.answers.once.unavailable.value, 1)
  const second = await send(prompt({ stream: true, seed: 1 }))
  await until(() => asked.length === 2)
  await asked[1]!.send(streamHead + chunks(event('y'.repeat(60_000))))
  await second.until('yyy')
  await asked[1]!.send(`${chunks('data: [DONE]\n\n')}0\r\n\r\n`)
  await second.until('[DONE]\n\n\r\n0\r\n\r\n')
  await until(() => room.bytes < 70_000)
  await asked[0]!.send(`${chunks(event('x'.repeat(60_000)), 'data: [DONE]\n\n')}0\r\n\r\n`)
  await first.until('[DONE]\n\n\r\n0\r\n\r\n')
  await until(() => room.bytes === 0)
  const third = await send(stream)
  await until(() => asked.length === 3)
  await asked[2]!.send(json(completion))
  assert.equal((await third.response()).field('svc-aig-cache-status'), 'MISS')
})

test('a hit that is read slowly counts as being on its way, until its caller leaves', async t => {
  const room = new AnswerRoom(1_500_000)
  const { ai, asked, send } = await start(t, { room })
  const first = await send()
  await until(() => asked.length === 1)
  await asked[0]!.send(json({ ...completion, system_fingerprint: 'x'.repeat(900_000) }))
  await first.response()
  await until(() => room.bytes === 0)
  const slow = [await ai.edge.connect(), await ai.edge.connect()]
  const one = call(`${ai.rest}/v1/chat/completions`, prompt(), `Authorization: Bearer ${ai.token}`)
  for (const client of slow) {
    client.socket.pause()
    // More than sockets hold.
    await client.send(one.repeat(20))
  }
  await until(() => room.isFull)
  const other = await send(prompt({ seed: 1 }))
  await until(() => asked.length === 2)
  await asked[1]!.send(json(completion))
  assert.equal((await other.response()).field('svc-aig-cache-status'), 'BYPASS; reason=busy')
  for (const client of slow) client.reset()
  await until(() => room.bytes === 0)
})
