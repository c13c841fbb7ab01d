// The guard of a gateway on the wire: what comes back in responses.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Guard, GuardAction } from '../../src/store/records/records.ts'
import { secrets } from '../guard/secrets.ts'
import { call, completion, startAi } from '../help/ai.ts'
import { startOrigin, startResponder } from '../help/origin.ts'
import type { Wire } from '../help/raw.ts'
import { until } from '../help/until.ts'

const card = '4111 1111 1111 1111'
const key = secrets.aws_key![0]!

const everything = (action: GuardAction): Guard => ({
  isEnabled: true,
  rules: [{ id: 'all', isEnabled: true, action, checks: ['response'], patterns: ['*'] }],
})

function answer(body: string, type = 'application/json', ...fields: string[]): string {
  const bytes = Buffer.from(body).toString('latin1')
  return [
    'HTTP/1.1 200 OK',
    `Content-Type: ${type}`,
    ...fields,
    `Content-Length: ${bytes.length}`,
    '',
    bytes,
  ].join('\r\n')
}

const said = (content: string) =>
  JSON.stringify({
    ...completion,
    choices: [{ ...completion.choices[0], message: { role: 'assistant', content } }],
  })

const chunk = (content: string, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`

async function start(t: TestContext, action: GuardAction, response: () => string) {
  const heads: string[] = []
  const provider = await startResponder(t, ({ lines }) => {
    heads.push(lines.join('\n'))
    return response()
  })
  const ai = await startAi(
    t,
    { openai: { url: provider.url, keys: ['sk-a'] } },
    { gateway: { collectLogs: true, guard: everything(action) } },
  )
  const chat = (more: object = {}) =>
    ai.edge.ask(
      call(
        `${ai.rest}/v1/chat/completions`,
        JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }], ...more }),
        `Authorization: Bearer ${ai.token}`,
        'Accept-Encoding: gzip',
      ),
    )
  return { ai, chat, heads }
}

test('a response is redacted before anything of it is sent, and stored so', async t => {
  const { ai, chat, heads } = await start(t, 'redact', () => answer(said(`It is ${card}, with ${key}`)))
  const response = await chat()
  assert.equal(response.status, 200)
  assert.equal(
    JSON.parse(response.text).choices[0].message.content,
    'It is [redacted:card_number], with [redacted:aws_key]',
  )
  assert.equal(JSON.parse(response.field('svc-aig-dlp')!).findings.length, 2)
  assert.match(heads[0]!, /accept-encoding: identity/i)
  const entry = await ai.entry()
  assert.doesNotMatch(JSON.stringify(entry), /\b4111\b|AKIA/)
  assert.match(entry.response!.text, /\[redacted:card_number\]/)
  assert.deepEqual(
    entry.findings!.map(({ check, name }) => [check, name]),
    [
      ['response', 'card_number'],
      ['response', 'aws_key'],
    ],
  )
})

test('a blocked response is an error with its names, and is not stored', async t => {
  const { ai, chat } = await start(t, 'block', () => answer(said(`It is ${card}`)))
  const response = await chat()
  assert.equal(response.status, 403)
  assert.deepEqual(JSON.parse(response.text).errors, [
    { code: 2030, message: 'The guard of the gateway has blocked the response: it has card_number' },
  ])
  const entry = await ai.entry()
  assert.deepEqual(
    [entry.success, entry.error, entry.tokensIn],
    [false, 'forbidden', completion.usage.prompt_tokens],
  )
  assert.doesNotMatch(JSON.stringify(entry), /\b4111\b/)
  assert.equal(ai.edge.metrics.ai.guardFindings.response.block.value, 1)
})

test('a flagged response is as it was', async t => {
  const { ai, chat } = await start(t, 'flag', () => answer(said(card)))
  const response = await chat()
  assert.equal(response.text, said(card))
  assert.equal(JSON.parse(response.field('svc-aig-dlp')!).action, 'flag')
  assert.equal((await ai.entry()).findings!.length, 1)
})

test('a response that cannot be looked at is blocked, and media are not looked at', async t => {
  let response = answer('\x1f\x8b', 'application/json', 'Content-Encoding: gzip')
  const { chat } = await start(t, 'redact', () => response)
  const blocked = await chat()
  assert.equal(blocked.status, 403)
  assert.match(blocked.text, /cannot look at a response that is compressed or in frames/)
  response = answer('\0\x01', 'application/octet-stream')
  assert.match((await chat()).text, /no text in UTF-8/)
  response = answer(card, 'audio/mpeg')
  assert.equal((await chat()).text, card)
})

test('lines of JSON are redacted, and so are lines that are none', async t => {
  const line = JSON.stringify({ response: `It is ${card}`, done: true })
  const { chat } = await start(t, 'redact', () => answer(`${line}\n${card}\n`, 'application/x-ndjson'))
  const mark = '[redacted:card_number]'
  assert.equal((await chat()).text, `${line.replace(card, mark)}\n${mark}\n`)
})

test('a blocked stream ends with an error event, has nothing of the match, and is not complete', async t => {
  // So long that its beginning is sent before its end has come.
  const parts = ['It is so. '.repeat(100_000), 'It is ', '4111', ' 1111', ' 1111', ' 1111', ' and', ' more']
  const stream = `${parts.map(part => chunk(part)).join('')}${chunk('', 'stop')}data: [DONE]\n\n`
  const { ai, chat } = await start(t, 'block', () => answer(stream, 'text/event-stream'))
  const response = await chat({ stream: true })
  const events = response.text.split('\n\n').filter(event => event !== '')
  assert.ok(response.text.includes('It is so.') && response.text.length > 1_000_000)
  // As a word: the ids of a record are hexadecimal, and have any four digits in one of 5,000 runs.
  assert.doesNotMatch(response.text, /\b4111\b/)
  assert.doesNotMatch(response.text, /\[DONE\]/)
  const { error } = JSON.parse(events.at(-1)!.slice('data: '.length))
  assert.equal(error.message, 'The guard of the gateway has blocked the response: it has card_number.')
  const entry = await ai.entry()
  assert.deepEqual([entry.success, entry.error, entry.usageIsEstimated], [false, 'forbidden', true])
  assert.doesNotMatch(JSON.stringify(entry), /\b4111\b/)
})

test('a stream is redacted across its events', async t => {
  const parts = ['It is ', '4111', ' 1111', ' 1111', ' 1111', '.']
  const stream = `${parts.map(part => chunk(part)).join('')}${chunk('', 'stop')}data: [DONE]\n\n`
  const { ai, chat } = await start(t, 'redact', () => answer(stream, 'text/event-stream'))
  const response = await chat({ stream: true })
  const text = response.text.matchAll(/"content":"([^"]*)"/g)
  assert.equal([...text].map(([, piece]) => piece).join(''), 'It is [redacted:card_number].')
  assert.match(response.text, /data: \[DONE\]\n\n$/)
  const entry = await ai.entry()
  assert.equal(entry.success, true)
  assert.doesNotMatch(JSON.stringify(entry), / 1111/)
  await until(() => ai.edge.metrics.ai.guardFindings.response.redact.value === 1)
})

test('what comes once its caller has left is read for its usage, and not stored', async t => {
  const { promise, resolve } = Promise.withResolvers<Wire>()
  const provider = await startOrigin(t, async wire => {
    await wire.request()
    resolve(wire)
    await wire.ending
  })
  const ai = await startAi(
    t,
    { openai: { url: provider.url, keys: ['sk-a'] } },
    { gateway: { collectLogs: true, onAbandon: 'drain', guard: everything('redact') } },
  )
  const client = await ai.edge.connect()
  const body = JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }] })
  await client.send(call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${ai.token}`))
  const wire = await promise
  client.leave()
  await until(() => ai.edge.metrics.clientAborts.value === 1)
  await wire.send(answer(said(`It is ${card}`)))
  const entry = await ai.entry()
  assert.equal(entry.tokensOut, completion.usage.completion_tokens)
  assert.doesNotMatch(JSON.stringify(entry), /\b4111\b/)
})
