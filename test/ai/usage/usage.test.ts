import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { usageOf as usageOfKept } from '../../../src/ai/usage/usage.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { cpuTime } from '../../help/stall.ts'

/** Reads the usage of a response that came to its end, or not. */
function usageOf(head: Buffer, tail: Buffer, isEventStream: boolean, isWhole = true) {
  return usageOfKept({ head, tail, isEventStream, isWhole })
}

const sizes = { head: 64 * 1024, tail: 8 * 1024 }

/** Reads the usage of a text as the log keeps it: its beginning, and its end where that is not all. */
function read(
  text: string,
  isEventStream = false,
  isWhole = true,
): readonly [string | null, number | null, number | null] {
  const bytes = Buffer.from(text)
  const tail = bytes.length > sizes.head ? bytes.subarray(-sizes.tail) : Buffer.alloc(0)
  const { model, tokensIn, tokensOut } = usageOf(bytes.subarray(0, sizes.head), tail, isEventStream, isWhole)
  return [model, tokensIn, tokensOut]
}

/** Writes an event stream; names events by their type, as Anthropic and the Responses API do. */
function stream(...events: readonly (object | string)[]): string {
  const write = (event: object | string) => {
    if (typeof event === 'string') return `data: ${event}\n\n`
    const name = 'type' in event ? `event: ${event.type}\n` : ''
    return `${name}data: ${JSON.stringify(event)}\n\n`
  }
  return events.map(write).join('')
}

const filler = 'A "usage": {"prompt_tokens": 9} and "model": "x" in a text. '
const long = filler.repeat(2000)

function chat(content: string): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-4o-2024-08-06',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 19,
      completion_tokens: 10,
      total_tokens: 29,
      prompt_tokens_details: { cached_tokens: 3, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 4 },
    },
    system_fingerprint: 'fp_1',
  }
}

function message(text: string): object {
  const input = { usage: { input_tokens: 1 }, model: 'mine' }
  return {
    model: 'claude-sonnet-4-5-20250929',
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [
      { type: 'text', text },
      { type: 'tool_use', id: 't', name: 'n', input },
    ],
    stop_reason: 'tool_use',
    usage: {
      input_tokens: 5,
      cache_creation_input_tokens: 100,
      cache_read_input_tokens: 20,
      cache_creation: { ephemeral_5m_input_tokens: 100 },
      output_tokens: 7,
    },
  }
}

function generated(text: string): object {
  return {
    candidates: [{ content: { parts: [{ text }], role: 'model' }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: 8,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      totalTokenCount: 58,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 8 }],
    },
    modelVersion: 'gemini-2.5-flash',
    responseId: 'r',
  }
}

function response(text: string): object {
  return {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'gpt-5-2025-08-07',
    output: [{ type: 'message', content: [{ type: 'output_text', text }] }],
    tools: [{ type: 'function', parameters: { properties: { usage: { type: 'object' } } } }],
    usage: {
      input_tokens: 36,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 87,
      total_tokens: 123,
    },
    metadata: {},
  }
}

function embeddings(count: number): object {
  const data = [{ object: 'embedding', index: 0, embedding: Array(count).fill(0.0123456789) }]
  return {
    object: 'list',
    data,
    model: 'text-embedding-3-small',
    usage: { prompt_tokens: 6, total_tokens: 6 },
  }
}

const asked = { model: 'llama3.2', created_at: '2026-01-01T00:00:00Z' }
const ollamaEnd = { ...asked, done: true, total_duration: 5, prompt_eval_count: 26, eval_count: 298 }

describe('usage of a JSON answer', () => {
  const answers = [
    ['a chat', chat('hi'), ['gpt-4o-2024-08-06', 19, 10]],
    ['a long chat', chat(long), ['gpt-4o-2024-08-06', 19, 10]],
    ['a message', message('hi'), ['claude-sonnet-4-5-20250929', 125, 7]],
    ['a long message', message(long), ['claude-sonnet-4-5-20250929', 125, 7]],
    ['a response', response('hi'), ['gpt-5-2025-08-07', 36, 87]],
    ['a long response', response(long), ['gpt-5-2025-08-07', 36, 87]],
    ['an embedding', embeddings(3), ['text-embedding-3-small', 6, 0]],
    ['a large embedding', embeddings(9000), ['text-embedding-3-small', 6, 0]],
    ['Gemini', generated('hi'), ['gemini-2.5-flash', 8, 50]],
    ['a long answer of Gemini', generated(long), ['gemini-2.5-flash', 8, 50]],
    [
      'Ollama',
      { ...asked, message: { role: 'assistant', content: 'hi' }, ...ollamaEnd },
      ['llama3.2', 26, 298],
    ],
    ['an error', { error: { message: 'no', type: 'invalid_request_error' } }, [null, null, null]],
    ['numbers that are none', { usage: { prompt_tokens: -1, completion_tokens: 1.5 } }, [null, null, null]],
    ['a model that is no ASCII', { model: 'mödel-\u{1f600}', usage: null }, ['mödel-\u{1f600}', null, null]],
    ['a usage of null', { model: 'm', usage: null }, ['m', null, null]],
  ] as const
  for (const [name, answer, usage] of answers) {
    test(`is read from ${name}`, () => {
      deepEqual(read(JSON.stringify(answer)), usage)
      deepEqual(read(JSON.stringify(answer, null, 2)), usage)
    })
  }
})

describe('usage of an event stream', () => {
  const delta = (content: string) => ({
    object: 'chat.completion.chunk',
    model: 'gpt-4o-2024-08-06',
    choices: [{ index: 0, delta: { content } }],
    usage: null,
  })
  const { usage: chatUsage } = chat('') as { usage: object }
  const lastChunk = { ...delta(''), choices: [], usage: chatUsage }
  const pieces = Array.from({ length: 900 }, () => delta(filler))

  test('is read from the last chunk of a chat', () => {
    deepEqual(read(stream(delta('hi'), lastChunk, '[DONE]'), true), ['gpt-4o-2024-08-06', 19, 10])
    deepEqual(read(stream(...pieces, lastChunk, '[DONE]'), true), ['gpt-4o-2024-08-06', 19, 10])
  })

  test('is read from a last event that no blank line ends, if the stream came to its end', () => {
    const text = stream(delta('hi'), lastChunk).trimEnd()
    deepEqual(read(text, true), ['gpt-4o-2024-08-06', 19, 10])
    deepEqual(read(text, true, false), ['gpt-4o-2024-08-06', null, null])
  })

  test('has what the last report lacks from the first one', () => {
    const counted = (usage: object) => ({ model: 'm', usage })
    const first = counted({ prompt_tokens: 5, completion_tokens: 7 })
    deepEqual(read(stream(first, counted({ prompt_tokens: 6 })), true), ['m', 6, 7])
    deepEqual(read(stream(first, counted({ completion_tokens: 8 })), true), ['m', 5, 8])
    deepEqual(read(stream(first, counted({ prompt_tokens: 6, completion_tokens: 8 })), true), ['m', 6, 8])
  })

  test('is what Bedrock measured where the model reports none', () => {
    const metrics = { 'amazon-bedrock-invocationMetrics': { inputTokenCount: 5, outputTokenCount: 7 } }
    const usage = { model: 'm', usage: { prompt_tokens: 1, completion_tokens: 2 } }
    deepEqual(read(stream({ generation: 'hi' }, { generation: '', ...metrics }), true), [null, 5, 7])
    deepEqual(read(stream({ ...usage, ...metrics }), true), ['m', 1, 2])
    deepEqual(read(stream({ generation: { ...metrics } }), true), [null, null, null])
    const partly = { 'amazon-bedrock-invocationMetrics': { inputTokenCount: -1, outputTokenCount: 7 } }
    deepEqual(read(stream(partly), true), [null, null, 7])
    deepEqual(read(stream({ 'amazon-bedrock-invocationMetrics': null }), true), [null, null, null])
  })

  test('is unknown where a chat stream does not report it', () => {
    deepEqual(read(stream(...pieces, '[DONE]'), true), ['gpt-4o-2024-08-06', null, null])
  })

  test('is read from the extra member of Groq', () => {
    const { usage: _, ...chunk } = delta('')
    const last = {
      ...chunk,
      x_groq: { id: 'r', usage: { prompt_tokens: 4, completion_tokens: 5, total_time: 0.1 } },
    }
    deepEqual(read(stream(delta('hi'), last, '[DONE]'), true), ['gpt-4o-2024-08-06', 4, 5])
  })

  const start = {
    type: 'message_start',
    message: {
      ...message(''),
      content: [],
      usage: {
        input_tokens: 5,
        cache_read_input_tokens: 20,
        cache_creation_input_tokens: 0,
        output_tokens: 1,
      },
    },
  }
  const text = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: filler } }
  const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 44 } }

  test('is read from the beginning and the end of a message', () => {
    const usage = ['claude-sonnet-4-5-20250929', 25, 44]
    deepEqual(read(stream(start, text, end, { type: 'message_stop' }), true), usage)
    deepEqual(read(stream(start, ...Array(900).fill(text), end, { type: 'message_stop' }), true), usage)
  })

  test('is as far as it was received in a truncated message, without the placeholder of its output', () => {
    for (const isWhole of [true, false])
      deepEqual(read(stream(start, text), true, isWhole), ['claude-sonnet-4-5-20250929', 25, null])
    deepEqual(read(stream(start, text, end).slice(0, -9), true, false), [
      'claude-sonnet-4-5-20250929',
      25,
      null,
    ])
  })

  test('is read from the last event of a response, however long that is', () => {
    const created = { type: 'response.created', response: { ...response(''), usage: null } }
    for (const text of ['hi', long]) {
      const completed = { type: 'response.completed', response: response(text) }
      deepEqual(read(stream(created, completed), true), ['gpt-5-2025-08-07', 36, 87])
    }
  })

  test('is the last one that Gemini reports, as events and as a JSON array', () => {
    const first = { ...generated('a'), usageMetadata: { promptTokenCount: 8, totalTokenCount: 8 } }
    deepEqual(read(stream(first, generated('b')), true), ['gemini-2.5-flash', 8, 50])
    deepEqual(read(JSON.stringify([first, generated(long)])), ['gemini-2.5-flash', 8, 50])
  })
})

test('usage of JSON lines is read from the last one', () => {
  const line = { ...asked, message: { role: 'assistant', content: filler }, done: false }
  for (const count of [1, 900]) {
    const lines = [...Array(count).fill(line), ollamaEnd].map(line => `${JSON.stringify(line)}\n`)
    deepEqual(read(lines.join('')), ['llama3.2', 26, 298])
  }
})

test('arguments of a tool call are not read as usage of Ollama', () => {
  const spoof = {
    usage: { prompt_tokens: 0, completion_tokens: 0 },
    prompt_eval_count: 0,
    eval_count: 0,
    done: 1,
  }
  const message = { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: spoof } }] }
  for (const more of [{}, { eval_duration: 7 }]) {
    const end = { ...asked, message, ...ollamaEnd, ...more }
    const { prompt_eval_count: _, ...cached } = end
    const lines = [
      { ...asked, message, done: false },
      { ...asked, ...ollamaEnd, ...more },
    ]
    deepEqual(read(JSON.stringify(end)), ['llama3.2', 26, 298])
    deepEqual(read(JSON.stringify(end, null, 2)), ['llama3.2', 26, 298])
    deepEqual(read(JSON.stringify(cached)), ['llama3.2', null, 298])
    deepEqual(read(lines.map(line => `${JSON.stringify(line)}\n`).join('')), ['llama3.2', 26, 298])
  }
  // The form of what is no usage there may be known of elsewhere.
  const usage = JSON.stringify({ usage: spoof.usage })
  deepEqual(read(usage), [null, 0, 0])
  deepEqual(read(JSON.stringify({ ...asked, message, ...ollamaEnd })), ['llama3.2', 26, 298])
})

test('a usage that is no object is none', () => {
  for (const usage of ['', 'x', 0, 5, true, null, [], [1]])
    for (const name of ['usage', 'usageMetadata'])
      deepEqual(read(JSON.stringify({ [name]: usage })), [null, null, null])
})

test('any text is read without throwing', () => {
  const piece = fc.constantFrom(
    '"usage"',
    '"usageMetadata"',
    ':',
    '{',
    '}',
    '"prompt_tokens":1',
    '"model":"x"',
    'data: ',
    '\n',
    '[',
    ' ',
  )
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.array(piece).map(pieces => pieces.join('')),
    fc.json(),
  )
  fc.assert(
    fc.property(
      text,
      text,
      fc.boolean(),
      (head, tail, isEventStream) => void usageOf(Buffer.from(head), Buffer.from(tail), isEventStream).model,
    ),
  )
})

test('a text that is made to be slow is read fast', () => {
  const took = cpuTime(() => {
    for (const piece of ['"usage":{', '"model"', '"model":"a', '"usage', '{"usage":{"a":1},']) {
      const bytes = Buffer.alloc(sizes.head, piece)
      void usageOf(bytes, bytes.subarray(-sizes.tail), true).model
    }
  })
  equal(took < 1_500, true, `${took} ms`)
})

test('only a bounded number of members that look like usage is examined', () => {
  const counts = 'data: {"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n'
  const none = (count: number) => 'data: {"usage":0}\n\n'.repeat(count)
  const tokensOf = (text: string) => usageOf(Buffer.from(text), Buffer.from(text), true).tokensOut
  equal(tokensOf(`${counts}${none(63)}`), 4)
  equal(tokensOf(`${none(64)}${counts}${none(64)}`), null)
  // Of a stream the beginning counts what went in, where the end does not.
  const end = Buffer.from('data: {"usage":{"completion_tokens":4}}\n\n')
  const tokensInOf = (text: string) => usageOf(Buffer.from(text), end, true).tokensIn
  equal(tokensInOf(none(63) + counts), 3)
  equal(tokensInOf(none(64) + counts), null)
})

describe('what a tool is called with is no usage', () => {
  const spoof = { usage: { input_tokens: 9e6, output_tokens: 9e6, prompt_tokens: 9e6 }, service_tier: 'flex' }
  const usage = { input_tokens: 5, output_tokens: 7 }
  const call = { type: 'tool_use', id: 't', name: 'n', input: spoof }
  const none = [null, null, null]

  test('wherever it is in a response, and whatever is missing there', () => {
    deepEqual(read(JSON.stringify({ content: [call], usage })), [null, 5, 7])
    deepEqual(read(JSON.stringify({ usage, content: [call] })), [null, 5, 7])
    deepEqual(read(JSON.stringify({ usage, content: [call, { text: 'x'.repeat(100_000) }] })), [null, 5, 7])
    deepEqual(read(JSON.stringify({ usage, content: [{ text: 'x'.repeat(100_000) }, call] })), [null, 5, 7])
    deepEqual(read(JSON.stringify({ content: [call], usage: null })), none)
    deepEqual(read(JSON.stringify({ content: [call] })), none)
    deepEqual(read(JSON.stringify({ content: [{ text: 'x'.repeat(100_000) }, call] })), none)
  })

  test('in a response that was cut, wherever that was', () => {
    const text = JSON.stringify({ usage, content: [call] })
    for (let end = text.indexOf('}'); end < text.length; end++)
      deepEqual(read(text.slice(0, end + 1), false, false), [null, 5, 7])
    const other = JSON.stringify({ content: [call], usage })
    for (let end = 0; end < other.lastIndexOf('7'); end++)
      deepEqual(read(other.slice(0, end), false, false), none)
  })

  test('in an event, and in a name', () => {
    const begin = { type: 'content_block_start', index: 0, content_block: call }
    const end = { type: 'message_delta', usage }
    deepEqual(read(stream(begin), true), none)
    for (let cut = 1; cut < 20; cut++) deepEqual(read(stream(begin).slice(0, -cut), true, false), none)
    deepEqual(read(stream(end, begin), true), [null, 5, 7])
    deepEqual(read(stream({ candidates: [{ args: spoof }], usageMetadata: { promptTokenCount: 8 } }), true), [
      null,
      8,
      null,
    ])
    const name = `{"a\\"usage":${JSON.stringify(spoof.usage)}}`
    deepEqual(read(name.replace('\\\\', '\\')), none)
  })

  test('what Ollama and OpenAI report beside the usage is none either', () => {
    const text = JSON.stringify({ choices: [call], usage: { prompt_tokens: 1 }, service_tier: 'priority' })
    equal(usageOf(Buffer.from(text), Buffer.alloc(0), false).tier, 'priority')
    const other = JSON.stringify({ usage: { prompt_tokens: 1 }, choices: [call] })
    equal(usageOf(Buffer.from(other), Buffer.alloc(0), false).tier, null)
    const said = JSON.stringify({ usage: { ...usage, service_tier: 'batch' }, choices: [call] })
    equal(usageOf(Buffer.from(said), Buffer.alloc(0), false).tier, 'batch')
  })

  test('what Claude charges more for is a tier of its own, wherever a stream says it', () => {
    const usual = { input_tokens: 1, output_tokens: 1, service_tier: 'standard' }
    const tierOf = (text: string, isEventStream: boolean) =>
      usageOf(Buffer.from(text), Buffer.alloc(0), isEventStream).tier
    for (const [more, tier] of [
      [{ speed: 'fast' }, 'speed:fast'],
      [{ inference_geo: 'us' }, 'geo:us'],
      [{ speed: 'fast', inference_geo: 'us' }, 'speed:fast geo:us'],
      [{ speed: 'standard', inference_geo: 'global' }, 'standard'],
      [{ speed: 'fast', service_tier: 'batch' }, 'batch'],
    ] as const) {
      const usage = { ...usual, ...more }
      equal(tierOf(JSON.stringify({ usage }), false), tier)
      const message = { type: 'message_start', message: { role: 'assistant', usage } }
      equal(tierOf(stream(message, { type: 'message_delta', usage }), true), tier)
      if (!tier.includes(':')) continue
      equal(tierOf(stream(message, { type: 'message_delta', usage: usual }), true), tier)
    }
  })

  test('a service tier is none either, however far from the usage it is', () => {
    const tools = [{ type: 'function', description: 'x'.repeat(6000) }]
    const response = { service_tier: 'flex', tools, usage }
    const completed = stream({ type: 'response.completed', response })
    equal(usageOf(Buffer.from(completed), Buffer.alloc(0), true).tier, 'flex')
    equal(usageOf(Buffer.from(JSON.stringify(response)), Buffer.alloc(0), false).tier, 'flex')
    const chunks = stream(
      { choices: [], service_tier: 'priority' },
      { choices: [], service_tier: 'flex', usage },
    )
    equal(usageOf(Buffer.from(chunks), Buffer.alloc(0), true).tier, 'flex')
  })

  const counts = fc.record({
    prompt_tokens: fc.nat(),
    completion_tokens: fc.nat(),
    total_tokens: fc.constant(0),
  })
  const decoy = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.record({ usage: counts, more: fc.jsonValue({ maxDepth: 1 }) }),
    fc.record({ usage: fc.constant(null), usageMetadata: counts }),
  )
  const value = fc.oneof(decoy, fc.array(decoy, { maxLength: 3 }), fc.record({ usage: decoy, input: decoy }))
  const members = fc.array(fc.tuple(fc.constantFrom('choices', 'content', 'error', 'data', 'x'), value))

  test('in any response that has one', () => {
    fc.assert(
      fc.property(
        members,
        counts,
        members,
        fc.nat(2),
        fc.boolean(),
        (before, usage, after, indent, isStream) => {
          const response = {
            ...Object.fromEntries(before),
            usage,
            ...Object.fromEntries(after),
            usageless: 1,
          }
          const text = isStream
            ? `data: ${JSON.stringify({ choices: [response] })}\n\n${stream(response)}`
            : JSON.stringify(response, null, indent)
          deepEqual(read(text, isStream), [read(text)[0], usage.prompt_tokens, usage.completion_tokens])
        },
      ),
      { numRuns: 500 },
    )
  })

  test('in any response that has none', () => {
    fc.assert(
      fc.property(members, fc.nat(2), fc.nat(400), (all, indent, cut) => {
        const text = JSON.stringify(Object.fromEntries(all), null, indent)
        deepEqual(read(text).slice(1), [null, null])
        deepEqual(read(text.slice(0, -cut), false, false).slice(1), [null, null])
      }),
      { numRuns: 500 },
    )
  })
})

describe('tokens that providers count in ways of their own', () => {
  const cases = [
    [{ usageMetadata: { promptTokenCount: 8, thoughtsTokenCount: 30, totalTokenCount: 38 } }, 8, 30],
    [
      { usageMetadata: { promptTokenCount: 8, toolUsePromptTokenCount: 100, candidatesTokenCount: 2 } },
      108,
      2,
    ],
    [{ usageMetadata: { toolUsePromptTokenCount: 100, thoughtsTokenCount: 0 } }, 100, 0],
    [{ usageMetadata: { promptTokenCount: 8, totalTokenCount: 12 } }, 8, 4],
    [
      {
        usage: {
          prompt_tokens: 26,
          completion_tokens: 4,
          total_tokens: 330,
          completion_tokens_details: { reasoning_tokens: 300 },
        },
      },
      26,
      304,
    ],
    [{ usage: { prompt_tokens: 26, completion_tokens: 4, total_tokens: 330 } }, 26, 304],
    [{ usage: { prompt_tokens: 26, completion_tokens: 4, total_tokens: 0 } }, 26, 4],
    [{ usage: { prompt_tokens: 26, total_tokens: 26 } }, 26, 0],
    [{ usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } }, 0, 0],
    [{ usage: { input_tokens: 0, output_tokens: 0 } }, 0, 0],
  ] as const
  for (const [response, tokensIn, tokensOut] of cases) {
    test(`as in ${JSON.stringify(response)}`, () => {
      // The second time its form is known.
      for (const _ of [1, 2]) deepEqual(read(JSON.stringify(response)), [null, tokensIn, tokensOut])
      deepEqual(read(stream(response, '[DONE]'), true), [null, tokensIn, tokensOut])
    })
  }

  test('with sound, searches and the cost', () => {
    const of = (usage: object) => usageOf(Buffer.from(JSON.stringify({ usage })), Buffer.alloc(0), false)
    const realtime = of({
      input_tokens: 100,
      output_tokens: 50,
      input_token_details: {
        audio_tokens: 60,
        cached_tokens: 30,
        cached_tokens_details: { audio_tokens: 20, text_tokens: 10 },
      },
      output_token_details: { audio_tokens: 40 },
    })
    deepEqual([realtime.audioIn, realtime.audioOut, realtime.cacheRead], [40, 40, 30])
    equal(of({ input_tokens: 1, server_tool_use: { web_search_requests: 3 } }).searches, 3)
    equal(of({ prompt_tokens: 1, cost: 0 }).cost, 0)
    equal(of({ prompt_tokens: 1, cost: 0.25 }).cost, 0.25)
    equal(of({ prompt_tokens: 1, cost: -1 }).cost, null)
    equal(of({ prompt_tokens: 1 }).cost, null)
    const details = { upstream_inference_cost: 0.5 }
    equal(of({ prompt_tokens: 1, cost: 0.25, is_byok: true, cost_details: details }).cost, 0.75)
    equal(of({ prompt_tokens: 1, cost: 0.25, is_byok: false, cost_details: details }).cost, 0.25)
  })
})

test('cached tokens are read from the member with the input tokens', () => {
  const begin = {
    type: 'message_start',
    message: { usage: { input_tokens: 2, cache_read_input_tokens: 7, output_tokens: 1 } },
  }
  const end = (usage: object) => ({ type: 'message_delta', usage })
  const whole = { input_tokens: 3, cache_read_input_tokens: 8, output_tokens: 5 }
  for (const [last, cacheRead, tokensIn] of [
    [{ output_tokens: 5 }, 7, 9],
    [whole, 8, 11],
  ] as const) {
    const usage = usageOf(Buffer.from(stream(begin, end(last))), Buffer.alloc(0), true)
    deepEqual([usage.cacheRead, usage.tokensIn, usage.tokensOut], [cacheRead, tokensIn, 5])
  }
})

test('tokens cached for an hour are reported only at the beginning of a stream', () => {
  const usage = { input_tokens: 5, cache_creation_input_tokens: 100, cache_read_input_tokens: 0 }
  const long = { ...usage, cache_creation: { ephemeral_1h_input_tokens: 60 }, output_tokens: 1 }
  const stream = (...usages: object[]) =>
    Buffer.from(usages.map(usage => `data: ${JSON.stringify({ type: 'x', usage })}\n\n`).join(''))
  const { tokensIn, tokensOut, cacheWritten, cacheWrittenLong } = usageOf(
    stream(long, { ...usage, output_tokens: 30 }),
    Buffer.alloc(0),
    true,
  )
  deepEqual([tokensIn, tokensOut, cacheWritten, cacheWrittenLong], [105, 30, 100, 60])
  const other = stream(long, { ...usage, cache_creation_input_tokens: 7, output_tokens: 30 })
  equal(usageOf(other, Buffer.alloc(0), true).cacheWrittenLong, 0)
})
