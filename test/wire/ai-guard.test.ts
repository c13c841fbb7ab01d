// The guard of a gateway on the wire: what leaves in requests.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Guard, GuardAction, GuardCheck } from '../../src/store/records/records.ts'
import { pem, secrets } from '../guard/secrets.ts'
import { type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { startResponder } from '../help/origin.ts'
import { until } from '../help/until.ts'

const card = '4111 1111 1111 1111'
const key = secrets.aws_key![0]!

const everything = (action: GuardAction, checks: readonly GuardCheck[] = ['request']): Guard => ({
  isEnabled: true,
  rules: [{ id: 'all', isEnabled: true, action, checks, patterns: ['*'] }],
})

async function start(t: TestContext, guard: Guard, settings: AiSettings = {}) {
  const bodies: string[] = []
  const provider = await startResponder(t, ({ body }) => {
    bodies.push(body.toString())
    return json(completion)
  })
  const ai = await startAi(
    t,
    {
      openai: { url: provider.url, keys: ['sk-a'] },
      anthropic: { url: provider.url, keys: ['sk-b'] },
    },
    { ...settings, gateway: { collectLogs: true, ...settings.gateway, guard } },
  )
  const post = (path: string, body: string, ...fields: string[]) => {
    const field = path.startsWith('/v1') ? 'svc-aig-authorization' : 'Authorization'
    return ai.edge.ask(call(path, body, `${field}: Bearer ${ai.token}`, ...fields))
  }
  const chat = (content: unknown, more: object = {}) =>
    post(
      `${ai.rest}/v1/chat/completions`,
      JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content }], ...more }),
    )
  const native = (body: string, ...fields: string[]) =>
    post(`${ai.native('openai')}/v1/chat/completions`, body, ...fields)
  return { ai, bodies, chat, native, post }
}

test('a request that has what is blocked is refused by its names, and reaches neither provider nor log', async t => {
  const { ai, bodies, chat } = await start(t, everything('block'))
  assert.equal((await chat('Hello')).status, 200)
  const refused = await chat(`My card is ${card}, my key ${key}.`)
  assert.equal(refused.status, 403)
  assert.deepEqual(JSON.parse(refused.text).errors, [
    {
      code: 2029,
      message: 'The guard of the gateway has blocked the request: it has card_number, aws_key',
    },
  ])
  assert.equal(refused.field('x-should-retry'), 'false')
  assert.deepEqual(JSON.parse(refused.field('svc-aig-dlp')!), {
    action: 'block',
    findings: [
      { check: 'request', name: 'card_number', action: 'block', count: 1 },
      { check: 'request', name: 'aws_key', action: 'block', count: 1 },
    ],
  })
  assert.doesNotMatch(refused.text, /\b4111\b|AKIA/)
  assert.equal((await chat('Hello')).field('svc-aig-dlp'), null)
  assert.equal(bodies.length, 2)
  assert.equal((await ai.logged(2)).length, 2)
  assert.equal(ai.edge.metrics.ai.guardFindings.request.block.value, 2)
})

test('what is redacted leaves with marks in its place, and is stored so', async t => {
  const { ai, bodies, chat } = await start(t, everything('redact'))
  const response = await chat(
    [
      { type: 'text', text: `Grüße 👋 ${card}` },
      { type: 'text', text: pem() },
    ],
    {
      tools: [{ type: 'function', function: { name: 'pay', description: key, parameters: {} } }],
      metadata: { [key]: -4111111111111111, list: [4242424242424242, '4242424242424242'] },
    },
  )
  assert.equal(response.status, 200)
  const sent = JSON.parse(bodies[0]!)
  assert.deepEqual(sent.messages[0].content, [
    { type: 'text', text: 'Grüße 👋 [redacted:card_number]' },
    { type: 'text', text: '[redacted:private_key]' },
  ])
  assert.equal(sent.tools[0].function.description, '[redacted:aws_key]')
  assert.deepEqual(sent.metadata, {
    '[redacted:aws_key]': '[redacted:card_number]',
    list: ['[redacted:card_number]', '[redacted:card_number]'],
  })
  const entry = await ai.entry()
  assert.doesNotMatch(entry.request!.text, /\b4111\b/)
  assert.match(entry.request!.text, /\[redacted:private_key\]/)
  assert.deepEqual(entry.findings, [
    { check: 'request', name: 'card_number', action: 'redact', count: 4 },
    { check: 'request', name: 'private_key', action: 'redact', count: 1 },
    { check: 'request', name: 'aws_key', action: 'redact', count: 2 },
  ])
})

test('what is flagged leaves as it is', async t => {
  const { ai, bodies, chat } = await start(t, everything('flag'))
  const response = await chat(card)
  assert.equal(response.status, 200)
  assert.match(bodies[0]!, /4111 1111/)
  assert.equal(JSON.parse(response.field('svc-aig-dlp')!).action, 'flag')
  assert.equal((await ai.entry()).findings!.length, 1)
})

test('escapes and nested JSON hide nothing, on no route', async t => {
  const { bodies, native, post, ai } = await start(t, everything('redact'))
  const escaped = [...card].map(c => `\\u00${c.charCodeAt(0).toString(16)}`).join('')
  const body = `{"model":"gpt-4o","messages":[{"role":"user","content":"${escaped}"}, {"role":"assistant","tool_calls":[{"function":{"arguments":${JSON.stringify(`{"n":"${escaped}","k":"x\\n${key}"}`)}}}]}]}`
  assert.equal((await native(body)).status, 200)
  const sent = JSON.parse(bodies[0]!)
  assert.equal(sent.messages[0].content, '[redacted:card_number]')
  assert.deepEqual(JSON.parse(sent.messages[1].tool_calls[0].function.arguments), {
    n: '[redacted:card_number]',
    k: 'x\n[redacted:aws_key]',
  })
  const messages = {
    model: 'anthropic/claude-sonnet-4-5',
    max_tokens: 9,
    messages: [{ role: 'user', content: card }],
  }
  assert.equal((await post(`${ai.rest}/v1/messages`, JSON.stringify(messages))).status, 200)
  assert.equal(JSON.parse(bodies[1]!).messages[0].content, '[redacted:card_number]')
  const translated = { ...messages, model: 'openai/gpt-4o', system: [{ type: 'text', text: key }] }
  await post(`${ai.rest}/v1/messages`, JSON.stringify(translated))
  assert.deepEqual(
    JSON.parse(bodies[2]!).messages.map(({ content }: { content: string }) => content),
    ['[redacted:aws_key]', '[redacted:card_number]'],
  )
  const run = { model: 'openai/gpt-4o', input: { messages: [{ role: 'user', content: card }] } }
  await post(`${ai.rest}/run`, JSON.stringify(run))
  assert.equal(JSON.parse(bodies[3]!).messages[0].content, '[redacted:card_number]')
})

test('base64, as of images and files, goes on as it is, beside arguments of tools that are looked at', async t => {
  const { bodies, chat } = await start(t, everything('block'))
  const url = `data:text/plain;base64,${Buffer.from(`${card} ${key}`).toString('base64')}`
  assert.equal((await chat([{ type: 'image_url', image_url: { url } }])).status, 200)
  assert.ok(bodies[0]!.includes(url))
  const called = (text: string) => ({
    messages: [
      { role: 'user', content: 'Pay.' },
      {
        role: 'assistant',
        tool_calls: [
          { id: 'c', type: 'function', function: { name: 'pay', arguments: JSON.stringify({ card: text }) } },
        ],
      },
      { role: 'tool', tool_call_id: 'c', content: 'Done.' },
    ],
  })
  assert.equal((await chat('Pay.', called(card))).status, 403)
  assert.equal((await chat('Pay.', called(url))).status, 200)
})

test('what cannot be looked at is refused where it would be redacted or blocked, and else flagged', async t => {
  const { ai, bodies, native } = await start(t, everything('redact'))
  const body = JSON.stringify({ model: 'gpt-4o', messages: [] })
  const form = '--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--x--\r\n'
  const cases: (readonly [string, ...string[]])[] = [
    [gzipSync(body).toString('latin1'), 'Content-Encoding: gzip'],
    [Buffer.from(body, 'utf16le').toString('latin1')],
    ['{"model": "gpt-4o", // a comment\n "messages": []}'],
  ]
  for (const [body, ...fields] of cases) {
    const refused = await native(body, ...fields)
    assert.equal(refused.status, 403)
    assert.match(refused.text, /cannot look at a body that is no plain JSON in UTF-8/)
  }
  const multipart = await ai.edge.ask(
    call(`${ai.native('openai')}/v1/files`, form, `svc-aig-authorization: Bearer ${ai.token}`).replace(
      'application/json',
      'multipart/form-data; boundary=x',
    ),
  )
  assert.equal(multipart.status, 403)
  const socket = await ai.edge.ask(
    `GET ${ai.native('openai')}/v1/realtime?model=gpt-realtime HTTP/1.1\r\nHost: ai.test\r\nsvc-aig-authorization: Bearer ${ai.token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  )
  assert.equal(socket.status, 403)
  assert.match(socket.text, /cannot look at the frames of a WebSocket/)
  assert.deepEqual(bodies, [])
  const models = await ai.edge.ask(
    `GET ${ai.native('openai')}/v1/models HTTP/1.1\r\nHost: ai.test\r\nsvc-aig-authorization: Bearer ${ai.token}\r\n\r\n`,
  )
  assert.equal(models.status, 200, 'without a body there is nothing to look at')
  await ai.change({ guard: everything('flag') })
  let response = await native(body, 'Content-Encoding: gzip')
  await until(async () => (response = await native(body, 'Content-Encoding: gzip')).status === 200)
  assert.deepEqual(JSON.parse(response.field('svc-aig-dlp')!).findings, [
    { check: 'request', name: 'unreadable', action: 'flag', count: 1 },
  ])
})
