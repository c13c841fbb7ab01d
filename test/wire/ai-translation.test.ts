// Requests as coding agents send them, to a provider that speaks the other API: what it has no equivalent for is left out and named where it is a
// hint, and refused elsewhere.

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { call, json, startAi } from '../help/ai.ts'
import { type Origin, startResponder } from '../help/origin.ts'
import { chunks, type Message } from '../help/raw.ts'

const called = { id: 'call_1', type: 'function', function: { name: 'Read', arguments: '{"path":"a"}' } }
const chunk = (delta: unknown, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', model: 'gpt-4o', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const stream = [
  chunk({ role: 'assistant', content: 'Reading.' }),
  chunk({ tool_calls: [{ index: 0, ...called }] }),
  chunk({}, 'tool_calls'),
  'data: [DONE]\n\n',
]
const whole = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Reading.', tool_calls: [called] },
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
}

const asEvents = (...events: string[]) =>
  `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${chunks(...events)}0\r\n\r\n`

async function start(t: TestContext) {
  const chat = await startResponder(t, ({ text }) =>
    JSON.parse(text).stream === true ? asEvents(...stream) : json(whole),
  )
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
  const messages = await startResponder(t, json(message))
  const ai = await startAi(t, { openai: chat.url, anthropic: messages.url })
  const ask = (path: string, body: string): Promise<Message> =>
    ai.edge.ask(call(`${ai.rest}${path}`, body, `Authorization: Bearer ${ai.token}`))
  return { ai, chat, messages, ask }
}

const ephemeral = { type: 'ephemeral', ttl: '1h' }

/** The shape of what Claude Code 2.1 sends in the middle of a session, with texts as long as its own. */
function codingTurn(isStreamed: boolean) {
  const tools = Array.from({ length: 24 }, (_, i) => ({
    name: `Tool${i}`,
    description: 'What this tool does, and when to use it. '.repeat(60),
    input_schema: { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false },
  }))
  return {
    model: 'openai/gpt-4o',
    max_tokens: 32_000,
    stream: isStreamed,
    system: [
      { type: 'text', text: 'You are a coding agent.' },
      { type: 'text', text: 'Be careful. '.repeat(800), cache_control: ephemeral },
    ],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Look at the picture.', cache_control: ephemeral }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I should look.', signature: 'c2ln' },
          { type: 'text', text: 'Looking.', citations: null },
          { type: 'tool_use', id: 'call_0', name: 'Read', input: { path: 'b.png' }, caller: null },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'call_0',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }],
          },
          { type: 'text', text: 'Go on.', cache_control: ephemeral },
        ],
      },
      { role: 'system', content: 'The file b.png has changed.' },
    ],
    tools,
    metadata: { user_id: `user_${'0'.repeat(145)}` },
    thinking: { type: 'adaptive', display: 'summarized' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    output_config: { effort: 'high' },
    temperature: null,
  }
}

const leftOut = [
  'messages[].content[].cache_control',
  'messages[].content[].thinking',
  'system[].cache_control',
  'context_management.edits[]',
  'thinking',
  'output_config.effort',
]

describe('a coding agent with a provider of chat', () => {
  for (const isStreamed of [true, false]) {
    test(`${isStreamed ? 'streams' : 'asks'}, and is told what was left out, as the log is`, async t => {
      const { ai, chat, ask } = await start(t)
      const body = JSON.stringify(codingTurn(isStreamed))
      assert.ok(body.length > 70_000)
      const answer = await ask('/v1/messages?beta=true', body)
      assert.equal(answer.status, 200, answer.text)
      const dropped = answer.field('svc-aig-dropped')!.split(', ')
      assert.deepEqual(dropped.toSorted(), leftOut.toSorted())
      assert.match(answer.text, /"text":"Reading\."/)
      assert.match(answer.text, /"type":"tool_use","id":"call_1","name":"Read"/)
      assert.deepEqual((await ai.entry()).dropped, dropped)
      const { messages, tools, user, ...sent } = JSON.parse(chat.requests[0]!.text)
      assert.equal(tools.length, 24)
      assert.match(user, /^[0-9a-f]{64}$/)
      assert.deepEqual(Object.keys(sent).toSorted(), [
        'max_completion_tokens',
        'model',
        'stream',
        ...(isStreamed ? ['stream_options'] : []),
      ])
      assert.deepEqual(messages.slice(1), [
        { role: 'user', content: 'Look at the picture.' },
        {
          role: 'assistant',
          content: 'Looking.',
          tool_calls: [
            { type: 'function', id: 'call_0', function: { name: 'Read', arguments: '{"path":"b.png"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_0', content: 'The result is in the next message of the user.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Result of tool call call_0:' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
            { type: 'text', text: 'Go on.' },
          ],
        },
        { role: 'system', content: 'The file b.png has changed.' },
      ])
    })
  }
})

test('hints of chat are left out for a provider of messages, and a history of our own chunks passes', async t => {
  const { ai, messages, ask } = await start(t)
  const request = {
    model: 'anthropic/claude-sonnet-5-5',
    verbosity: 'low',
    prompt_cache_key: 'session',
    seed: null,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, refusal: null, tool_calls: [{ index: 0, ...called }] },
      {
        role: 'tool',
        tool_call_id: 'call_1',
        content: [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }],
      },
    ],
  }
  const answer = await ask('/v1/chat/completions', JSON.stringify(request))
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.field('svc-aig-dropped'), 'prompt_cache_key, verbosity')
  assert.deepEqual((await ai.entry()).dropped, ['prompt_cache_key', 'verbosity'])
  const [, , { content }] = JSON.parse(messages.requests[0]!.text).messages
  assert.deepEqual(content[0].content, [
    { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
  ])
})

test('the older shape of calls comes back as it was asked for', async t => {
  const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    stop_reason: 'tool_use',
  }
  const provider = await startResponder(t, json({ ...message, content: [use], usage: {} }))
  const ai = await startAi(t, { anthropic: provider.url })
  const request = {
    model: 'anthropic/claude-sonnet-5-5',
    functions: [{ name: 'f' }],
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'ok' },
    ],
  }
  const answer = await ai.edge.ask(
    call(`${ai.rest}/v1/chat/completions`, JSON.stringify(request), `Authorization: Bearer ${ai.token}`),
  )
  assert.equal(answer.status, 200, answer.text)
  const [choice] = JSON.parse(answer.text).choices
  assert.deepEqual(choice.message.function_call, { name: 'f', arguments: '{"a":1}' })
  assert.equal(choice.finish_reason, 'function_call')
  const { messages, tools } = JSON.parse(provider.requests[0]!.text)
  assert.deepEqual([tools.length, messages.length], [1, 3])
})

test('a complete list says nothing about omissions', async t => {
  const { ai, ask } = await start(t)
  const turn = '"messages":[{"role":"user","content":"Hi"}]'
  const native = `{"model":"openai/gpt-4o","verbosity":"low","prompt_cache_key":"k","prompt_cache_key":"l",${turn}}`
  for (const [path, body] of [
    ['/v1/messages', `{"model":"openai/gpt-4o","max_tokens":9,${turn}}`],
    ['/v1/chat/completions', native],
  ] as const) {
    const answer = await ask(path, body)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.field('svc-aig-dropped'), null)
  }
  for (const entry of await ai.logged(2)) assert.ok(!('dropped' in entry))
})

describe('refused by its place, before any provider is called', () => {
  const places: readonly (readonly [pointer: string, path: string, model: string, members: string])[] = [
    ['/max_tokens', '/v1/messages', 'openai/gpt-4o', '"messages":[],"max_tokens":9,"max_tokens":900'],
    [
      '/messages/0/content',
      '/v1/chat/completions',
      'anthropic/claude-sonnet-5-5',
      '"messages":[{"role":"user","content":"a","content":"b"}]',
    ],
    [
      '/messages/0/content/0/source/url',
      '/v1/messages',
      'openai/gpt-4o',
      '"max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"file:///etc/passwd"}}]}]',
    ],
    [
      '/messages/0/content/0/image_url/url',
      '/v1/chat/completions',
      'anthropic/claude-sonnet-5-5',
      '"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]',
    ],
    [
      '/context_management/edits/0/type',
      '/v1/messages',
      'openai/gpt-4o',
      '"max_tokens":9,"messages":[],"context_management":{"edits":[{"type":"compact_20260112"}]}',
    ],
  ]
  for (const [pointer, path, model, members] of places) {
    test(pointer, async t => {
      const { chat, messages, ask } = await start(t)
      const answer = await ask(path, `{"model":"${model}",${members}}`)
      assert.equal(answer.status, 400, answer.text)
      assert.ok(answer.text.includes(JSON.stringify(pointer)), answer.text)
      const reached = (origin: Origin) => origin.bytesReceived
      assert.deepEqual([chat, messages].map(reached), [0, 0])
    })
  }

  test('a duplicate within the input of a run', async t => {
    const { ask } = await start(t)
    const input = '{"prompt":"Hi","stream_options":{"include_usage":true,"include_usage":false}}'
    const answer = await ask('/run', `{"model":"anthropic/claude-sonnet-5-5","input":${input}}`)
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, /"\/input\/stream_options\/include_usage"/)
  })
})
