// The webhook of a gateway's guard and whole responses: nothing reaches the caller before it has allowed that.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { sealWebhookSecret } from '../../src/guard/webhook/secret.ts'
import type { GuardRule } from '../../src/store/records/records.ts'
import { call, completion, json, secrets, startAi } from '../help/ai.ts'
import { guardSecret, say, type Say, startReceiver, trusting } from '../help/guard-receiver.ts'
import { startResponder } from '../help/origin.ts'
import { until } from '../help/until.ts'

const said = (content: string, more: object = {}) => ({
  ...completion,
  choices: [{ ...completion.choices[0], message: { role: 'assistant', content, ...more } }],
})

async function start(t: TestContext, handle: Say, respond: () => string, rules: readonly GuardRule[] = []) {
  const receiver = await startReceiver(t, handle)
  const provider = await startResponder(t, respond)
  const ai = await startAi(
    t,
    { openai: { url: provider.url, keys: ['sk-a'] }, ollama: { url: provider.url } },
    { webhooks: trusting, gateway: { collectLogs: true, cacheTtl: 60 } },
  )
  const sealed = sealWebhookSecret(secrets, guardSecret, { account: ai.account, id: 'default' })
  const webhook = { url: receiver.url, checks: ['response'], timeout: 1_000, sealed } as const
  const guard = { isEnabled: true, rules, webhook }
  await ai.change({ guard })
  const ask = (path: string, ...fields: string[]) => {
    const body = JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }] })
    return call(path, body, `svc-aig-authorization: Bearer ${ai.token}`, ...fields)
  }
  const chat = (...fields: string[]) =>
    ai.edge.ask(ask(`${ai.rest}/v1/chat/completions`, `Authorization: Bearer ${ai.token}`, ...fields))
  return { ai, receiver, provider, chat, ask, guard }
}

test('the webhook is asked once about all texts of a response, which it lets pass as it is', async t => {
  const response = said('Ada', {
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'pay', arguments: '{"to":"Bob"}' } }],
  })
  const { ai, receiver, provider, chat } = await start(t, say({ verdict: 'allow' }), () => json(response))
  const got = await chat()
  assert.deepEqual([got.status, JSON.parse(got.text)], [200, response])
  assert.equal(receiver.questions.length, 1)
  const { check, texts, model } = receiver.questions[0]!
  assert.deepEqual([check, model], ['response', 'gpt-4o'])
  for (const text of ['Ada', 'pay', '{"to":"Bob"}']) assert.ok((texts as string[]).includes(text), text)
  const entry = await ai.entry()
  assert.deepEqual([entry.success, entry.findings], [true, undefined])
  assert.match(entry.response!.text, /Ada/)
  // What was allowed is reused, and not asked about again.
  assert.equal((await chat()).field('svc-aig-cache-status'), 'HIT')
  assert.deepEqual([receiver.questions.length, provider.requests.length], [1, 1])
})

test('a cached response is not given once the webhook is another one', async t => {
  const { ai, chat, guard } = await start(t, say({ verdict: 'allow' }), () => json(said('Ada')))
  assert.equal((await chat()).status, 200)
  const other = await startReceiver(t, say({ verdict: 'block', findings: ['pii'] }))
  await ai.change({ guard: { ...guard, webhook: { ...guard.webhook, url: other.url } } })
  assert.equal((await chat()).status, 403)
  assert.equal(other.questions.length, 1)
})

test('what it blocks is an error with its names, and is neither stored nor reused', async t => {
  const { ai, chat, provider } = await start(t, say({ verdict: 'block', findings: ['pii'] }), () =>
    json(said('I am Ada.')),
  )
  const blocked = await chat()
  assert.equal(blocked.status, 403)
  assert.deepEqual(JSON.parse(blocked.text).errors, [
    { code: 2030, message: 'The guard of the gateway has blocked the response: it has webhook:pii' },
  ])
  const entry = await ai.entry()
  assert.deepEqual(
    [entry.success, entry.error, entry.tokensIn],
    [false, 'forbidden', completion.usage.prompt_tokens],
  )
  assert.deepEqual(entry.findings, [{ check: 'response', name: 'webhook:pii', action: 'block', count: 1 }])
  assert.doesNotMatch(JSON.stringify(entry), /Ada/)
  assert.equal((await chat()).status, 403)
  assert.equal(provider.requests.length, 2)
})

const rename: Say = ({ texts }, response) => {
  const safe = (texts as string[]).map(text => text.replaceAll('Ada', 'Somebody'))
  response.end(JSON.stringify({ verdict: 'replace', findings: ['name'], texts: safe }))
}

test('what it replaces is what the caller gets and what is stored, without probabilities', async t => {
  const logprobs = { content: [{ token: 'A' }, { token: 'da' }] }
  const response = said('I am Ada.')
  Object.assign(response.choices[0]!, { logprobs })
  const { ai, chat } = await start(t, rename, () => json(response))
  const got = await chat()
  assert.equal(JSON.parse(got.field('svc-aig-dlp')!).action, 'redact')
  const [{ message, logprobs: rest }] = JSON.parse(got.text).choices
  assert.deepEqual([message.content, rest], ['I am Somebody.', null])
  const entry = await ai.entry()
  assert.match(entry.response!.text, /I am Somebody/)
  assert.doesNotMatch(JSON.stringify(entry), /Ada/)
})

test('the patterns come first', async t => {
  const rule = { id: 'a', isEnabled: true, checks: ['response'], patterns: ['card_number'] } as const
  const { ai, receiver, chat } = await start(t, rename, () => json(said('Ada: 4111 1111 1111 1111')), [
    { ...rule, action: 'redact' },
  ])
  assert.match((await chat()).text, /Somebody: \[redacted:card_number\]/)
  assert.ok((receiver.questions[0]!.texts as string[]).includes('Ada: [redacted:card_number]'))
  assert.equal((await ai.entry()).findings!.length, 2)
})

test('without a verdict the caller gets 503 and nothing of the response', async t => {
  const deeds: Readonly<Record<string, Say>> = {
    hang: () => {},
    drop: (_, __, request) => request.socket.destroy(),
    error: (_, response) => response.writeHead(500).end('{"verdict":"allow"}'),
    lie: (_, response) => response.end('{"verdict":"maybe"}'),
    short: (_, response) => response.end('{"verdict":"replace","texts":[]}'),
  }
  let deed = ''
  const { ai, chat } = await start(
    t,
    (question, response, request) => deeds[deed]!(question, response, request),
    () => json(said('Ada')),
  )
  for (deed of Object.keys(deeds)) {
    const refused = await chat()
    assert.deepEqual([refused.status, refused.field('retry-after')], [503, '5'], deed)
    const [{ code, message }] = JSON.parse(refused.text).errors
    assert.equal(code, 2031, deed)
    assert.match(message, /^The guard of the gateway cannot decide about the response: its webhook /)
    assert.doesNotMatch(refused.text, /Ada/)
  }
  assert.doesNotMatch(JSON.stringify(await ai.entry()), /Ada/)
})

test('what cannot be asked about is blocked, and media pass', async t => {
  let response = ''
  const { receiver, chat } = await start(t, say({ verdict: 'allow' }), () => response)
  const answer = (body: string, ...fields: string[]) =>
    ['HTTP/1.1 200 OK', ...fields, `Content-Length: ${body.length}`, '', body].join('\r\n')
  response = answer('\x1f\x01', 'Content-Type: application/json', 'Content-Encoding: gzip')
  assert.match((await chat()).text, /cannot look at a response that is compressed/)
  response = answer('\0\x01', 'Content-Type: application/octet-stream')
  assert.match((await chat()).text, /cannot look at a response that is no text/)
  response = answer(
    JSON.stringify(said('x'.repeat(500_000).replaceAll('xx', 'x '), { more: 'y '.repeat(300_000) })),
    'Content-Type: application/json',
  )
  assert.match((await chat()).text, /with more than 1048576 bytes of text/)
  const deep = `${'{"a":'.repeat(200)}"Ada"${'}'.repeat(200)}`
  response = answer(`[${deep}]`, 'Content-Type: application/json')
  assert.match((await chat()).text, /an event that nests too deep/)
  assert.equal(receiver.questions.length, 0)
  response = answer('Ada', 'Content-Type: audio/mpeg')
  assert.equal((await chat()).text, 'Ada')
  assert.equal(receiver.questions.length, 0)
})

test('lists of events and lines of JSON are put together, and replaced where they begin', async t => {
  let response = ''
  const { ai, receiver, ask } = await start(t, rename, () => response)
  const path = `/v1/${ai.account}/default/openai/chat/completions`
  const answer = (body: string, type: string) =>
    `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const event = (text: string) => ({ candidates: [{ content: { parts: [{ text }] } }] })
  response = answer(JSON.stringify([event('I am A'), event('da.')]), 'application/json')
  const list = await ai.edge.ask(ask(path))
  assert.deepEqual(JSON.parse(list.text), [event('I am Somebody.'), event('')])
  assert.ok((receiver.questions[0]!.texts as string[]).includes('I am Ada.'))
  const line = (response: string, done: boolean) => JSON.stringify({ response, done })
  response = answer(`${line('I am A', false)}\n${line('da.', true)}\nAda`, 'application/x-ndjson')
  const lines = await ai.edge.ask(ask(path))
  assert.equal(lines.text, `${line('I am Somebody.', false)}\n${line('', true)}\nSomebody`)
})

test('responses wait for their turn when sixty-four are asked about', async t => {
  const waiting: ServerResponse[] = []
  const { ai, chat, guard } = await start(
    t,
    (_, response) => waiting.push(response),
    () => json(said('Ada')),
  )
  await ai.change({ guard: { ...guard, webhook: { ...guard.webhook, timeout: 30_000 } } })
  const chats = Array.from({ length: 66 }, () => chat('svc-aig-skip-cache: true'))
  await until(() => waiting.length === 64)
  for (const response of waiting.splice(0)) response.end('{"verdict":"allow"}')
  await until(() => waiting.length === 2)
  for (const response of waiting) response.end('{"verdict":"allow"}')
  const statuses = (await Promise.all(chats)).map(({ status }) => status)
  assert.deepEqual(new Set(statuses), new Set([200]))
})

test('a caller who leaves takes the question along, and the provider is blamed for nothing', async t => {
  const { ai, receiver, ask } = await start(
    t,
    () => {},
    () => json(said('Ada')),
  )
  const client = await ai.edge.connect()
  await client.send(ask(`${ai.rest}/v1/chat/completions`, `Authorization: Bearer ${ai.token}`))
  await until(() => receiver.questions.length === 1)
  client.leave()
  await until(() => ai.edge.metrics.ai.guardQuestions.left.value === 1)
  const entry = await ai.entry()
  assert.doesNotMatch(JSON.stringify(entry), /Ada/)
  assert.equal(entry.tokensOut, completion.usage.completion_tokens)
})
