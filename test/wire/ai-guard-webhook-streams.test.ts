// The webhook of a gateway's guard and streams: windows wait for their verdicts, and the provider for the webhook.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { sealWebhookSecret } from '../../src/guard/webhook/secret.ts'
import { type AiEdge, type AiSettings, call, secrets, startAi } from '../help/ai.ts'
import { guardSecret, say, type Say, startReceiver, trusting } from '../help/guard-receiver.ts'
import { startOrigin } from '../help/origin.ts'
import { chunks, type Wire } from '../help/raw.ts'
import { until } from '../help/until.ts'

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const chat = (content: string) =>
  data({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })
const chatEnd = `${data({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`

interface Settings {
  readonly timeout?: number
  readonly provider?: string
  readonly path?: (ai: AiEdge) => string
  readonly body?: object
  readonly gateway?: AiSettings['gateway']
}

async function start(t: TestContext, handle: Say, settings: Settings = {}) {
  const { timeout = 5_000, provider: name = 'openai', body = {}, gateway = {} } = settings
  const receiver = await startReceiver(t, handle)
  const { promise, resolve } = Promise.withResolvers<Wire>()
  const provider = await startOrigin(t, async wire => {
    await wire.request()
    resolve(wire)
    await wire.ending
  })
  const ai = await startAi(
    t,
    { [name]: { url: provider.url, keys: ['sk-a'] } },
    { webhooks: trusting, gateway: { collectLogs: true, ...gateway } },
  )
  const sealed = sealWebhookSecret(secrets, guardSecret, { account: ai.account, id: 'default' })
  const webhook = { url: receiver.url, checks: ['response'], timeout, sealed } as const
  await ai.change({ guard: { isEnabled: true, rules: [], webhook } })
  const client = await ai.edge.connect()
  const path = settings.path?.(ai) ?? `${ai.rest}/v1/chat/completions`
  const text = JSON.stringify({
    ...{ model: `${name}/gpt-4o`, stream: true, messages: [{ role: 'user', content: 'Hi' }], ...body },
  })
  const field = path.startsWith('/v1/') ? 'svc-aig-authorization' : 'Authorization'
  await client.send(call(path, text, `${field}: Bearer ${ai.token}`))
  return { ai, receiver, client, wire: await promise }
}

/** Lets questions wait until the test says what they get. */
function waiting() {
  const waits: { texts: string[]; before: number[]; response: ServerResponse }[] = []
  const handle: Say = ({ texts, before }, response) =>
    waits.push({ texts: texts as string[], before: before as number[], response })
  const next = async (verdict: object | null = { verdict: 'allow' }) => {
    await until(() => waits.length > 0)
    const wait = waits.shift()!
    if (verdict !== null) wait.response.end(JSON.stringify(verdict))
    return wait
  }
  return { handle, next, waits }
}

test('a window is sent once it is allowed, and the next one has what came meanwhile and before', async t => {
  const { handle, next, waits } = waiting()
  const { ai, client, wire } = await start(t, handle)
  await wire.send(head + chunks(chat('I am '), chat('here. ')))
  const first = await next(null)
  assert.ok(first.texts.includes('I am here. '))
  await wire.send(`${chunks(chat('So are '), chat('you.'), chatEnd)}0\r\n\r\n`)
  // The end of the response waits with the rest of it.
  assert.equal(client.unread, '')
  first.response.end('{"verdict":"allow"}')
  await client.until('here. ')
  const second = await next(null)
  const i = second.texts.indexOf('I am here. So are you.')
  assert.equal(second.before[i], 'I am here. '.length)
  assert.equal(waits.length, 0)
  assert.doesNotMatch(client.unread, /So are/)
  second.response.end('{"verdict":"allow"}')
  const rest = await client.until('0\r\n\r\n')
  assert.match(rest, /So are[\s\S]*you\.[\s\S]*\[DONE\]/)
  const entry = await ai.entry()
  assert.deepEqual([entry.success, entry.streamed], [true, true])
  assert.match(entry.response!.text, /you\./)
})

test('what is split over windows is seen, and nothing of the word that has it is sent', async t => {
  const { ai, receiver, client, wire } = await start(t, ({ texts }, response) => {
    const isSecret = (texts as string[]).some(text => text.includes('ada@example.com'))
    response.end(JSON.stringify({ verdict: isSecret ? 'block' : 'allow', findings: ['email'] }))
  })
  await wire.send(head + chunks(chat('Write to '), chat('ada@')))
  await client.until('Write to ')
  await wire.send(chunks(chat('example.com'), chat(' now.')))
  const end = await client.until('0\r\n\r\n')
  assert.doesNotMatch(end, /ada@|example|now|\[DONE\]/)
  const [, error] = /data: (\{"error":.*\})\n\n/.exec(end)!
  const message = 'The guard of the gateway has blocked the response: it has webhook:email.'
  assert.equal(JSON.parse(error!).error.message, message)
  const entry = await ai.entry()
  assert.deepEqual([entry.success, entry.error, entry.status], [false, 'forbidden', 200])
  assert.deepEqual(entry.findings, [{ check: 'response', name: 'webhook:email', action: 'block', count: 1 }])
  assert.doesNotMatch(JSON.stringify(entry), /ada@|example\.com/)
  assert.ok(receiver.questions.length >= 2)
  await wire.ending
})

test('a window is replaced as the webhook wants, and stored so', async t => {
  const { ai, client, wire } = await start(t, ({ texts }, response) => {
    const safe = (texts as string[]).map(text => text.replaceAll('Ada', 'Somebody'))
    response.end(JSON.stringify({ verdict: 'replace', texts: safe }))
  })
  await wire.send(head + chunks(chat('I am A')))
  await wire.send(`${chunks(chat('da.'), chatEnd)}0\r\n\r\n`)
  const text = await client.until('0\r\n\r\n')
  const pieces = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece)
  assert.equal(pieces.join(''), 'I am Somebody.')
  const entry = await ai.entry()
  assert.deepEqual([entry.success, entry.findings![0]!.action], [true, 'redact'])
  assert.doesNotMatch(JSON.stringify(entry), /"da\./)
})

test('the arguments of tools wait as text does', async t => {
  const { handle, next } = waiting()
  const { client, wire } = await start(t, handle)
  const tool = (text: string) =>
    data({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: text } }] } }] })
  await wire.send(`${head + chunks(tool('{"to": '), tool('"Ada"}'), chatEnd)}0\r\n\r\n`)
  const { texts } = await next({ verdict: 'block' })
  assert.ok(texts.includes('{"to": "Ada"}'))
  const refused = await client.response('POST')
  assert.equal(refused.status, 403)
  assert.doesNotMatch(refused.text, /Ada/)
})

const messages = (ai: AiEdge) => `/v1/${ai.account}/default/anthropic/v1/messages`
const apis: Readonly<Record<string, Settings & { event: (text: string) => string; error: RegExp }>> = {
  chat: { event: chat, error: /data: \{"error":\{.*"code":503/ },
  responses: {
    path: ai => `${ai.rest}/v1/responses`,
    body: { input: 'Hi' },
    event: delta =>
      `event: response.output_text.delta\n${data({ type: 'response.output_text.delta', sequence_number: 4, item_id: 'm', output_index: 0, content_index: 0, delta })}`,
    error: /event: (?:error|response\.failed)\ndata: \{"type":"(?:error|response\.failed)"/,
  },
  messages: {
    provider: 'anthropic',
    path: messages,
    body: { model: 'claude-sonnet-5-5', max_tokens: 9 },
    event: text =>
      `event: content_block_delta\n${data({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })}`,
    error: /event: error\ndata: \{"type":"error","error":\{/,
  },
}

for (const [api, { event, error, ...settings }] of Object.entries(apis))
  test(`without a verdict, a stream of ${api} that has begun ends with an error event`, async t => {
    let isDown = false
    const { ai, client, wire } = await start(
      t,
      (_, response) => (isDown ? response.socket!.destroy() : response.end('{"verdict":"allow"}')),
      settings,
    )
    await wire.send(head + chunks(event('Hello. ')))
    await client.until('Hello. ')
    isDown = true
    await wire.send(chunks(event('Ada. ')))
    const end = await client.until('0\r\n\r\n')
    assert.match(end, error)
    assert.match(end, /cannot decide about the response: its webhook cannot be reached/)
    assert.doesNotMatch(end, /Ada|\[DONE\]|message_stop|response\.completed/)
    const entry = await ai.entry()
    assert.deepEqual([entry.success, entry.error], [false, 'service_unavailable'])
    assert.doesNotMatch(JSON.stringify(entry), /Ada/)
    await wire.ending
  })

test('a webhook that hangs, errs or lies before anything was sent makes a whole error', async t => {
  const deeds: readonly Say[] = [
    () => {},
    (_, response) => response.writeHead(500).end('{"verdict":"allow"}'),
    (_, response) => response.end('[]'),
  ]
  for (const deed of deeds) {
    const { client, wire } = await start(t, deed, { timeout: 300 })
    await wire.send(head + chunks(chat('Ada')))
    const refused = await client.response('POST')
    assert.equal(refused.status, 503)
    assert.equal(JSON.parse(refused.text).errors[0].code, 2031)
    await wire.ending
  }
})

test('a provider waits while a question is open, and its silence then is not its fault', async t => {
  const { handle, next } = waiting()
  const { client, wire } = await start(t, handle, { timeout: 30_000 })
  await wire.send(head + chunks(chat('one ')))
  const first = await next(null)
  // Far more than what is held: the rest waits in the sockets.
  const piece = chunks(chat('x'.repeat(1_000)))
  let sent = 0
  const pour = wire.pour(Buffer.from(piece.repeat(100))).then(bytes => (sent = bytes))
  await pour
  assert.ok(sent > 0)
  assert.equal(client.unread, '')
  first.response.end('{"verdict":"allow"}')
  await client.until('one ')
  await next({ verdict: 'block' })
  assert.match(await client.until('0\r\n\r\n'), /has blocked the response/)
})

test('a caller who leaves takes the question along, and the provider is cut off', async t => {
  const { handle, next } = waiting()
  const { ai, client, wire } = await start(t, handle, { timeout: 30_000 })
  await wire.send(head + chunks(chat('Ada ')))
  const { response } = await next(null)
  client.leave()
  await until(() => response.destroyed)
  await until(() => ai.edge.metrics.ai.guardQuestions.left.value === 1)
  await wire.ending
  assert.doesNotMatch(JSON.stringify(await ai.entry()), /Ada/)
})

test('a provider that dies while a question is open ends the stream with its error, not with what is held', async t => {
  const { handle, next } = waiting()
  const { client, wire } = await start(t, handle)
  await wire.send(head + chunks(chat('one ')))
  await next()
  await client.until('one ')
  await wire.send(chunks(chat('Ada ')))
  const { response } = await next(null)
  wire.reset()
  const end = await client.until('0\r\n\r\n')
  assert.match(end, /"code":520/)
  assert.doesNotMatch(end, /Ada/)
  await until(() => response.destroyed)
})

test('a stream that was allowed is reused, and one that another caller joined has nothing unasked', async t => {
  const { handle, next, waits } = waiting()
  const { ai, client, wire } = await start(t, handle, { gateway: { cacheTtl: 60 } })
  const body = JSON.stringify({
    ...{ model: 'openai/gpt-4o', stream: true, messages: [{ role: 'user', content: 'Hi' }] },
  })
  const request = call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${ai.token}`)
  const other = await ai.edge.connect()
  await other.send(request)
  await wire.send(`${head + chunks(chat('Hello. '), chatEnd)}0\r\n\r\n`)
  const question = await next(null)
  assert.doesNotMatch(other.unread, /Hello/)
  question.response.end('{"verdict":"allow"}')
  await client.until('[DONE]')
  await other.until('[DONE]')
  const again = await ai.edge.ask(request)
  assert.equal(again.field('svc-aig-cache-status'), 'HIT')
  assert.match(again.text, /Hello/)
  assert.equal(waits.length, 0)
})

test('little text is asked about five times a second at most', async t => {
  const { receiver, client, wire } = await start(t, say({ verdict: 'allow' }))
  await wire.send(head)
  const began = performance.now()
  for (let i = 0; i < 40; i++) await wire.send(chunks(chat(`word${i} `)))
  await wire.send(`${chunks(chatEnd)}0\r\n\r\n`)
  await client.until('0\r\n\r\n')
  const most = 3 + Math.ceil((performance.now() - began) / 200)
  assert.ok(receiver.questions.length <= most, `${receiver.questions.length} questions`)
})
