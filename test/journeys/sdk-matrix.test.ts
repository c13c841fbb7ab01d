// What callers of the published SDKs experience when a call fails: how often they ask, how long they wait, and what they read. The table in docs/sdks.md is
// what this finds; WRITE_DOCS=1 writes it anew.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type AiEdge, completion, startAi } from '../help/ai.ts'
import { ManualClock } from '../help/clock.ts'
import { LeapingTimers } from '../help/leaping-timers.ts'
import { deadOrigin, startOrigin } from '../help/origin.ts'
import { say, startProvider, stream } from '../help/provider.ts'
import { type Caller, callers, type Door } from './sdk-callers.ts'

const root = join(import.meta.dirname, '../..')
const page = join(root, 'docs/sdks.md')

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-5-5',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 3 },
}
const output = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
}
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'gpt-4o-mini',
  status: 'completed',
  output: [output],
  usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
}
const begun = { ...response, status: 'in_progress', output: [], usage: null }
const candidate = (text: string, finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason, index: 0 }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 },
})
const chunk = (delta: unknown, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, delta, finish_reason }],
})

/** Answers in the words of each API, whole. */
const wholes: Readonly<Record<Caller['speaks'], unknown>> = {
  chat: completion,
  messages: message,
  gemini: candidate('Hello.', 'STOP'),
  responses: response,
}

/** The events of a stream, of which a provider that dies sends the first half. */
const events: Readonly<Record<Caller['speaks'], readonly (readonly [data: unknown, name?: string])[]>> = {
  chat: [
    [chunk({ role: 'assistant', content: 'Hel' })],
    [chunk({ content: 'lo.' })],
    [chunk({}, 'stop')],
    ['[DONE]'],
  ],
  messages: [
    [{ type: 'message_start', message: { ...message, content: [], stop_reason: null } }, 'message_start'],
    [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      'content_block_start',
    ],
    [
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
      'content_block_delta',
    ],
    [{ type: 'content_block_stop', index: 0 }, 'content_block_stop'],
    [
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
      'message_delta',
    ],
    [{ type: 'message_stop' }, 'message_stop'],
  ],
  gemini: [[candidate('Hel')], [candidate('lo.', 'STOP')]],
  responses: [
    { type: 'response.created', response: begun },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...output, status: 'in_progress', content: [] },
    },
    {
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: 'Hello.',
      logprobs: [],
    },
    { type: 'response.output_item.done', output_index: 0, item: output },
    { type: 'response.completed', response },
  ].map((event, sequence_number) => [{ ...event, sequence_number }, event.type]),
}

function speaksOf(path: string): Caller['speaks'] {
  if (path.includes(':')) return 'gemini'
  if (path.endsWith('/responses')) return 'responses'
  return path.endsWith('/messages') ? 'messages' : 'chat'
}

function reply(path: string, body: Record<string, unknown>, response: ServerResponse, isCut: boolean): void {
  const speaks = speaksOf(path)
  if (body.stream !== true && !path.includes(':stream')) return say(response, wholes[speaks])
  const send = stream(response)
  const all = events[speaks]
  for (const [data, name] of isCut ? all.slice(0, Math.ceil(all.length / 2)) : all) send(data, name)
  if (isCut) setImmediate(() => response.destroy())
  else response.end()
}

/** Starts a gateway whose providers are all at one address. */
async function startAt(t: TestContext, url: string): Promise<{ readonly ai: AiEdge; readonly door: Door }> {
  const names = ['openai', 'anthropic', 'groq', 'google-ai-studio', 'mistral']
  const providers: Parameters<typeof startAi>[1] = {
    ...Object.fromEntries(names.map(name => [name, { url, keys: ['ours'] }])),
    'custom-responses': { url, keys: ['ours'], apis: ['responses'] },
  }
  // Stands still, so that waits are the same each time.
  const ai = await startAi(t, providers, { clock: new ManualClock() })
  return { ai, door: { url: `http://127.0.0.1:${ai.edge.port}`, account: ai.account, token: ai.token } }
}

async function startAnswering(t: TestContext, isCut = false) {
  const provider = await startProvider(t, ({ path, body }, response) => reply(path, body, response, isCut))
  return startAt(t, provider.url)
}

/** What a caller lives through. */
interface Outcome {
  /** Of the gateway, or of the stream that broke. */
  readonly attempts: number
  /** Seconds that it waits between them. */
  readonly wait: number
  readonly reads: string
}

/** Each failure as it really happens, and how a caller runs into it. */
const failures: Readonly<Record<string, (t: TestContext, caller: Caller) => Promise<Outcome | null>>> = {
  401: async (t, caller) => {
    const { door } = await startAnswering(t)
    return outcome(t, () => caller.ask({ ...door, token: 'svct_nonsense' }))
  },
  429: async (t, caller) => {
    const { ai, door } = await startAnswering(t)
    await ai.change({ rateLimit: { limit: 1, interval: 30, technique: 'fixed' } })
    await caller.ask(door)
    return outcome(t, () => caller.ask(door))
  },
  521: async (t, caller) => {
    const { door } = await startAt(t, deadOrigin().url)
    return outcome(t, () => caller.ask(door))
  },
  525: async (t, caller) => {
    const plain = await startOrigin(t, wire => wire.send('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const { door } = await startAt(t, plain.url.replace('http:', 'https:'))
    return outcome(t, () => caller.ask(door))
  },
  'cut stream': async (t, caller) => {
    if (caller.stream === null) return null
    const { door } = await startAnswering(t, true)
    return outcome(t, () => caller.stream!(door))
  },
}

async function outcome(t: TestContext, ask: () => Promise<string>): Promise<Outcome> {
  const timers = new LeapingTimers(t)
  const failing = ask().then(
    text => assert.fail(`it read ${text}`),
    (error: unknown) => error,
  )
  const wait = Math.round(await timers.secondsOf(failing))
  return { attempts: timers.requests, wait, reads: wordsOf(await failing) }
}

/** Returns what a program logs of an error: its message, in one line, without what differs from one time to the other. */
function wordsOf(error: unknown): string {
  assert.ok(error instanceof Error)
  const words = error.message.replace(/\s+/g, ' ').replaceAll(/[0-9a-f]{16,}/g, '…')
  return words.replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, '…').replaceAll(/127\.0\.0\.1:\d+/g, '…')
}

for (const caller of callers) {
  test(`${caller.name}: a response and a stream arrive`, async t => {
    const { door } = await startAnswering(t)
    assert.equal(await caller.ask(door), 'Hello.')
    if (caller.stream !== null) assert.equal(await caller.stream(door), 'Hello.')
  })
}

for (const caller of callers.filter(({ stream }) => stream !== null))
  test(`${caller.name}: a stream that ends in the name of a field is not whole`, async t => {
    const provider = await startProvider(t, ({ path }, response) => {
      const send = stream(response)
      const [data, name] = events[speaksOf(path)][0]!
      send(data, name)
      response.write('data', () => response.destroy())
    })
    const { door } = await startAt(t, provider.url)
    await outcome(t, () => caller.stream!(door))
  })

const city = '{"city":"Oslo"}'

/** Has the tool called, and answers once its result is there. */
function replyWithCall(path: string, body: Record<string, unknown>, response: ServerResponse): void {
  const speaks = speaksOf(path)
  const hasResult = JSON.stringify(body.messages ?? body.input).includes('sunny in Oslo')
  if (hasResult) return reply(path, body, response, false)
  if (body.stream !== true) return say(response, wholeCalls[speaks])
  const send = stream(response)
  for (const [data, name] of callEvents[speaks]) send(data, name)
  response.end()
}

const chatCall = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: city } }
const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: JSON.parse(city) }

const functionCall = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'weather',
  arguments: city,
  status: 'completed',
}

const wholeCalls: typeof wholes = {
  chat: {
    ...completion,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Looking.', tool_calls: [chatCall] },
        finish_reason: 'tool_calls',
      },
    ],
  },
  messages: { ...message, content: [toolUse], stop_reason: 'tool_use' },
  gemini: null,
  responses: { ...response, output: [functionCall] },
}

const callEvents: typeof events = {
  chat: [
    [chunk({ role: 'assistant', content: 'Looking.' })],
    [chunk({ tool_calls: [{ index: 0, ...chatCall }] })],
    [chunk({}, 'tool_calls')],
    ['[DONE]'],
  ],
  messages: [
    events.messages[0]!,
    [
      { type: 'content_block_start', index: 0, content_block: { ...toolUse, input: {} } },
      'content_block_start',
    ],
    [
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: city } },
      'content_block_delta',
    ],
    [{ type: 'content_block_stop', index: 0 }, 'content_block_stop'],
    [
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } },
      'message_delta',
    ],
    [{ type: 'message_stop' }, 'message_stop'],
  ],
  gemini: [],
  responses: [
    { type: 'response.created', response: begun },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...functionCall, arguments: '', status: 'in_progress' },
    },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0, delta: city },
    { type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 0, arguments: city },
    { type: 'response.output_item.done', output_index: 0, item: functionCall },
    { type: 'response.completed', response: { ...response, output: [functionCall] } },
  ].map((event, sequence_number) => [{ ...event, sequence_number }, event.type]),
}

/** An API of which a provider has no other, and a model of such a provider. */
const apis = [
  ['chat', 'Chat Completions', 'mistral/mistral-small'],
  ['messages', 'Messages', 'anthropic/claude-sonnet-5-5'],
  ['responses', 'Responses', 'custom-responses/gpt-5'],
] as const

/** Runs a tool for models of providers that speak only another API; returns which. */
async function toolsOf(t: TestContext, caller: Caller): Promise<string> {
  if (caller.tools === null) return '–'
  const provider = await startProvider(t, ({ path, body }, response) => replyWithCall(path, body, response))
  const { door } = await startAt(t, provider.url)
  const others = apis.filter(([api]) => api !== caller.speaks)
  for (const [api, , model] of others) {
    for (const isStreamed of [false, true])
      assert.equal(await caller.tools(door, model, isStreamed), 'Hello.')
    const asked = provider.asked.splice(0)
    assert.deepEqual(
      asked.map(({ path }) => speaksOf(path)),
      [api, api, api, api],
    )
  }
  return others.map(([, name]) => name).join(', ')
}

/** A row of the table; the words are cut where they only go on. */
function rowOf({ name }: Caller, failure: string, found: Outcome | null): string {
  if (found === null) return `| ${name} | ${failure} | – | – | reads no stream here |`
  const { attempts, wait, reads } = found
  const words = reads.length > LONGEST_WORDS ? `${reads.slice(0, LONGEST_WORDS)} …` : reads
  return `| ${name} | ${failure} | ${attempts} | ${wait} s | ${words.replaceAll('|', '\\|')} |`
}

const LONGEST_WORDS = 120
const START = '<!-- found by test/journeys/sdk-matrix.test.ts -->\n'
const END = '<!-- end -->'

function versionOf({ sdk }: Caller): string {
  return JSON.parse(readFileSync(join(root, 'node_modules', sdk, 'package.json'), 'utf8')).version
}

test('what callers experience is what docs/sdks.md says', async t => {
  const sdks: string[] = []
  for (const caller of callers)
    await t.test(`${caller.name}: tools of other APIs`, async t => {
      const tools = await toolsOf(t, caller)
      const { name, sdk, route } = caller
      sdks.push(`| ${name} | \`${sdk}\` ${versionOf(caller)} | ${route} | ${tools} |`)
    })
  const rows: string[] = []
  for (const caller of callers)
    for (const [failure, provoke] of Object.entries(failures))
      await t.test(`${caller.name}: ${failure}`, async t => {
        rows.push(rowOf(caller, failure, await provoke(t, caller)))
      })
  const tables = [
    '| caller | package | route | tools across APIs |\n| --- | --- | --- | --- |',
    ...sdks,
    '\n| caller | failure | attempts | total wait | message |\n| --- | --- | --: | --: | --- |',
    ...rows,
  ].join('\n')
  const text = readFileSync(page, 'utf8')
  const [before, rest] = text.split(START)
  const [, behind] = rest!.split(END)
  const found = `${before}${START}\n${tables}\n\n${END}${behind}`
  if (process.env.WRITE_DOCS) writeFileSync(page, found)
  else assert.equal(text, found)
})
