// The webhook of a gateway's guard: nothing leaves before it has allowed that.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { sealWebhookSecret } from '../../src/guard/webhook/secret.ts'
import type { Guard, GuardRule } from '../../src/store/records/records.ts'
import { type AiSettings, call, completion, json, secrets, startAi } from '../help/ai.ts'
import { freePort } from '../help/free-port.ts'
import { guardSecret as secret, say, type Say, startReceiver, trusting } from '../help/guard-receiver.ts'
import { startResponder } from '../help/origin.ts'
import { until } from '../help/until.ts'

interface Settings {
  readonly rules?: readonly GuardRule[]
  readonly timeout?: number
  readonly webhooks?: AiSettings['webhooks']
}

async function startGuarded(t: TestContext, url: string, settings: Settings = {}) {
  const { rules = [], timeout = 5_000, webhooks = trusting } = settings
  const bodies: string[] = []
  const provider = await startResponder(t, ({ body }) => {
    bodies.push(body.toString())
    return json(completion)
  })
  const ai = await startAi(
    t,
    { openai: { url: provider.url, keys: ['sk-a'] } },
    { webhooks, gateway: { collectLogs: true } },
  )
  const sealed = sealWebhookSecret(secrets, secret, { account: ai.account, id: 'default' })
  const guard: Guard = { isEnabled: true, rules, webhook: { url, checks: ['request'], timeout, sealed } }
  await ai.change({ guard })
  const head = `Authorization: Bearer ${ai.token}`
  const bodyOf = (content: unknown, more: object = {}) =>
    JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content }], ...more })
  const path = `${ai.rest}/v1/chat/completions`
  const chat = (content: unknown, more: object = {}) => ai.edge.ask(call(path, bodyOf(content, more), head))
  return { ai, bodies, chat, request: (content: unknown) => call(path, bodyOf(content), head) }
}

test('what the webhook allows leaves, and it is asked about all texts over one connection', async t => {
  const receiver = await startReceiver(t, say({ verdict: 'allow' }))
  const { ai, bodies, chat } = await startGuarded(t, receiver.url)
  const tools = [{ type: 'function', function: { name: 'pay', description: 'Pays.', parameters: {} } }]
  const calls = [{ id: 'c1', type: 'function', function: { name: 'pay', arguments: '{"to":"Ada"}' } }]
  const assistant = { role: 'assistant', tool_calls: calls }
  const response = await chat('Hello', { tools, messages: [{ role: 'user', content: 'Hello' }, assistant] })
  assert.equal(response.status, 200)
  assert.equal((await chat('Again')).status, 200)
  assert.equal(bodies.length, 2)
  const { ray, ...question } = receiver.questions[0]!
  assert.match(ray as string, /^[0-9a-f]+/)
  assert.deepEqual(question, {
    ...{ type: 'guard.check', check: 'request', account_id: ai.account, gateway_id: 'default' },
    model: 'gpt-4o',
    texts: ['openai/gpt-4o', 'user', 'Hello', 'assistant', 'c1', 'function', 'pay', '{"to":"Ada"}', 'Pays.'],
  })
  assert.equal(receiver.connections(), 1)
  assert.equal(ai.edge.metrics.ai.guardQuestions.allow.value, 2)
  assert.equal((await ai.entry(2)).findings, undefined)
})

test('what it blocks is refused by the names that it gives, and no provider gets it', async t => {
  const receiver = await startReceiver(t, say({ verdict: 'block', findings: ['pii'] }))
  const { bodies, chat } = await startGuarded(t, receiver.url)
  const refused = await chat('I am Ada.')
  assert.equal(refused.status, 403)
  assert.deepEqual(JSON.parse(refused.text).errors, [
    { code: 2029, message: 'The guard of the gateway has blocked the request: it has webhook:pii' },
  ])
  assert.equal(refused.field('x-should-retry'), 'false')
  assert.deepEqual(JSON.parse(refused.field('svc-aig-dlp')!).findings, [
    { check: 'request', name: 'webhook:pii', action: 'block', count: 1 },
  ])
  assert.equal(bodies.length, 0)
})

test('what it replaces leaves and is stored as it wants, and what it flags is noted', async t => {
  const receiver = await startReceiver(t, ({ texts }, response) => {
    const verdict = (texts as string[]).includes('flag me') ? 'flag' : 'replace'
    const replaced = (texts as string[]).map(text => text.replace('Ada', 'Somebody'))
    response.end(JSON.stringify({ verdict, findings: ['name'], texts: replaced }))
  })
  const { ai, bodies, chat } = await startGuarded(t, receiver.url)
  assert.equal((await chat('I am Ada.')).status, 200)
  assert.equal(JSON.parse(bodies[0]!).messages[0].content, 'I am Somebody.')
  const entry = await ai.entry()
  assert.doesNotMatch(entry.request!.text, /Ada/)
  assert.deepEqual(entry.findings, [{ check: 'request', name: 'webhook:name', action: 'redact', count: 1 }])
  assert.equal((await chat('flag me')).status, 200)
  assert.equal((await ai.entry(2)).findings![0]!.action, 'flag')
})

test('the patterns come first: the webhook gets only what they let pass', async t => {
  const receiver = await startReceiver(t, say({ verdict: 'allow' }))
  const rule = { id: 'a', isEnabled: true, checks: ['request'], patterns: ['card_number'] } as const
  const { chat } = await startGuarded(t, receiver.url, { rules: [{ ...rule, action: 'redact' }] })
  assert.equal((await chat('4111 1111 1111 1111')).status, 200)
  assert.deepEqual(receiver.questions[0]!.texts, ['openai/gpt-4o', 'user', '[redacted:card_number]'])
  const strict = await startGuarded(t, receiver.url, { rules: [{ ...rule, action: 'block' }] })
  assert.equal((await strict.chat('4111 1111 1111 1111')).status, 403)
  assert.equal(receiver.questions.length, 1)
})

test('without a verdict the call is refused with 503, whatever the webhook did instead', async t => {
  const deeds: Readonly<Record<string, Say>> = {
    hang: () => {},
    drop: (_, __, request) => request.socket.destroy(),
    error: (_, response) => response.writeHead(500).end('{"verdict":"allow"}'),
    redirect: (_, response) => response.writeHead(307, { location: '/elsewhere' }).end('{"verdict":"allow"}'),
    cut: (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"verdict":"allow"}')
      response.destroy()
    },
    drip: (_, response) => response.write('{"verdict":'),
    lie: (_, response) => response.end('{"verdict":"maybe"}'),
    flood: (_, response) => response.end(`{"verdict":"allow","x":"${'x'.repeat(3_000_000)}"}`),
  }
  const receiver = await startReceiver(t, ({ texts }, response, request) =>
    deeds[(texts as string[]).at(-1)!]!({}, response, request),
  )
  const { ai, bodies, chat } = await startGuarded(t, receiver.url, { timeout: 1_000 })
  const words: Readonly<Record<string, string>> = {
    ...{ hang: 'its webhook did not respond in time', drip: 'its webhook did not respond in time' },
    ...{ drop: 'its webhook cannot be reached', cut: 'its webhook cannot be reached' },
  }
  for (const deed of Object.keys(deeds)) {
    const refused = await chat(deed)
    const why = words[deed] ?? 'its webhook did not respond with a verdict'
    assert.deepEqual([refused.status, refused.field('retry-after')], [503, '5'], deed)
    const [{ code, message }] = JSON.parse(refused.text).errors
    assert.equal(code, 2031, deed)
    assert.ok(
      message.startsWith(`The guard of the gateway cannot decide about the request: ${why};`),
      message,
    )
  }
  assert.equal(bodies.length, 0)
  const { timeout, unreachable, invalid } = ai.edge.metrics.ai.guardQuestions
  assert.deepEqual([timeout.value, unreachable.value, invalid.value], [2, 2, 4])
  const tallies = ai.edge.tallies.filter(({ scope }) => scope === `guards ${ai.account}`)
  assert.ok(tallies.every(({ kind, name }) => kind === 'limit' && name === 'default'))
  assert.equal(
    tallies.reduce((sum, { count }) => sum + count, 0),
    8,
  )
})

test('a name or an address that is not public is never dialled', async t => {
  const receiver = await startReceiver(t, say({ verdict: 'allow' }))
  const { ca } = trusting
  for (const host of ['localhost', '127.0.0.1', '169.254.169.254', '[::ffff:a9fe:a9fe]', '10.0.0.1']) {
    const url = `https://${host}:${receiver.port}/guard`
    const { chat } = await startGuarded(t, url, { webhooks: { ca } })
    assert.equal((await chat('Hello')).status, 503, host)
  }
  assert.equal(receiver.connections(), 0)
})

test('sixty-four calls at once are asked about at once, and one more is refused for a second', async t => {
  const waiting: ServerResponse[] = []
  const receiver = await startReceiver(t, (_, response) => waiting.push(response))
  const { bodies, chat } = await startGuarded(t, receiver.url, { timeout: 30_000 })
  const chats = Array.from({ length: 64 }, (_, i) => chat(`call ${i}`))
  await until(() => waiting.length === 64)
  const refused = await chat('one more')
  assert.deepEqual([refused.status, refused.field('retry-after')], [503, '1'])
  assert.equal(bodies.length, 0)
  for (const response of waiting) response.end('{"verdict":"allow"}')
  const statuses = (await Promise.all(chats)).map(({ status }) => status)
  assert.deepEqual(new Set(statuses), new Set([200]))
  assert.equal(bodies.length, 64)
})

test('a caller who leaves takes the question along', async t => {
  let isClosed = false
  const receiver = await startReceiver(t, (_, response) => response.on('close', () => (isClosed = true)))
  const { ai, bodies, request } = await startGuarded(t, receiver.url, { timeout: 30_000 })
  const socket = connect(ai.edge.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(request('Hello'))
  await until(() => receiver.questions.length === 1)
  socket.destroy()
  await until(() => isClosed)
  await until(() => ai.edge.metrics.ai.guardQuestions.left.value === 1)
  assert.equal(bodies.length, 0)
})

test('a webhook whose secret is of another gateway is not asked', async t => {
  const receiver = await startReceiver(t, say({ verdict: 'allow' }))
  const { ai, chat } = await startGuarded(t, receiver.url)
  const sealed = sealWebhookSecret(secrets, secret, { account: ai.account, id: 'other' })
  const webhook = { url: receiver.url, checks: ['request'], timeout: 1_000, sealed } as const
  await ai.change({ guard: { isEnabled: true, rules: [], webhook } })
  assert.equal((await chat('Hello')).status, 503)
  assert.equal(receiver.questions.length, 0)
})

test('the receiver of the documentation decides about signed questions alone', async t => {
  const [, source] = /<!-- guard-receiver -->\n```mjs\n(.*?)```/s.exec(await readFile(guide, 'utf8'))!
  const port = await freePort()
  const env = { ...process.env, GUARD_SECRET: secret, PORT: `${port}` }
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source!], { env, stdio: 'inherit' })
  t.after(() => child.kill())
  const origin = `http://127.0.0.1:${port}`
  await until(() =>
    fetch(origin).then(
      () => true,
      () => false,
    ),
  )
  assert.equal((await fetch(origin, { method: 'POST', body: '{"texts":[]}' })).status, 401)
  // The end of TLS, as its operator has it.
  const receiver = await startReceiver(t, async (question, response, { headers }) => {
    const signed = Object.entries(headers).filter(([name]) => name.startsWith('webhook-')) as [
      string,
      string,
    ][]
    const decided = await fetch(origin, { method: 'POST', body: JSON.stringify(question), headers: signed })
    response.writeHead(decided.status).end(await decided.text())
  })
  const { bodies, chat } = await startGuarded(t, receiver.url)
  const statuses = [(await chat('I am Ada.')).status, (await chat('Hello')).status]
  const contents = bodies.map(body => JSON.parse(body).messages[0].content)
  assert.deepEqual(
    [statuses, contents],
    [
      [200, 200],
      ['I am Somebody.', 'Hello'],
    ],
  )
})

const guide = new URL('../../docs/guard.md', import.meta.url)
