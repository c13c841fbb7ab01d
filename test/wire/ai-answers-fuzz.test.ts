// Answers of providers, mutated at random and framed as origins frame them: whatever comes, the caller gets a whole answer, a record, or a visible cut, and
// the next call is served.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type AiEdge, call, completion, startAi } from '../help/ai.ts'
import { startOrigin } from '../help/origin.ts'
import { chunks, Ended, type Message } from '../help/raw.ts'
import { thorough } from '../help/thorough.ts'

const framings = ['length', 'chunked', 'close'] as const
type Framing = (typeof framings)[number]

interface ProviderAnswer {
  readonly body: string
  readonly type: string
  readonly framing: Framing
  /** Where the body is cut into several writes, as parts of its length. */
  readonly cuts: readonly number[]
}

/** Writes an answer as the pieces in which it comes; one that is framed by the close of its connection ends with it. */
function framed({ body, type, framing, cuts }: ProviderAnswer): string[] {
  const ends = [...cuts.map(cut => Math.floor(cut * body.length)), body.length].sort((a, b) => a - b)
  const parts = ends.map((end, i) => body.slice(ends[i - 1] ?? 0, end)).filter(part => part !== '')
  const head = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n`
  if (framing === 'length') return [`${head}Content-Length: ${body.length}\r\n\r\n`, ...parts]
  if (framing === 'close') return [`${head}Connection: close\r\n\r\n`, ...parts]
  return [`${head}Transfer-Encoding: chunked\r\n\r\n`, ...parts.map(part => chunks(part)), '0\r\n\r\n']
}

const messages = '"max_tokens":9,"messages":[{"role":"user","content":"Hi"}]'

/** Each way by which an answer is rewritten, and how its provider would answer. */
const ways = [
  {
    name: 'a message as a chat completion',
    provider: 'anthropic',
    path: '/v1/chat/completions',
    ask: `{"model":"anthropic/claude-sonnet-5-5",${messages}}`,
    type: 'application/json',
    answer:
      '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hello."},{"type":"tool_use","id":"t","name":"f","input":{"a":[1]}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":3}}',
  },
  {
    name: 'a chat completion as a message',
    provider: 'openai',
    path: '/v1/messages',
    ask: `{"model":"openai/gpt-4o-mini",${messages}}`,
    type: 'application/json',
    answer: JSON.stringify(completion).replace(
      '"refusal":null',
      '"refusal":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{\\"a\\":1}"}}]',
    ),
  },
  {
    name: 'a chat completion in the envelope',
    provider: 'openai',
    path: '/run',
    ask: `{"model":"openai/gpt-4o-mini","input":{${messages}}}`,
    type: 'application/json',
    answer: JSON.stringify(completion),
  },
  {
    name: 'events of a message as those of a chat completion',
    provider: 'anthropic',
    path: '/v1/chat/completions',
    ask: `{"model":"anthropic/claude-sonnet-5-5","stream":true,${messages}}`,
    type: 'text/event-stream',
    answer: [
      '{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}',
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}}',
      '{"type":"content_block_stop","index":0}',
      '{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}',
      '{"type":"content_block_stop","index":1}',
      '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}',
      '{"type":"message_stop"}',
    ]
      .map(data => `data: ${data}\n\n`)
      .join(''),
  },
  {
    name: 'events of a chat completion as those of a message',
    provider: 'openai',
    path: '/v1/messages',
    ask: `{"model":"openai/gpt-4o-mini","stream":true,${messages}}`,
    type: 'text/event-stream',
    answer: [
      '{"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello."},"finish_reason":null}]}',
      '{"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":null}]}',
      '{"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}',
      '{"id":"c","model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}',
      '[DONE]',
    ]
      .map(data => `data: ${data}\n\n`)
      .join(''),
  },
] as const

type Way = (typeof ways)[number]

/** JSON values as no provider should send them, in place of those that it does. */
const strange = fc.constantFrom(
  ...['null', '0', '-1', '1e999', '"x"', '[]', '{}', '[null]', 'true', '123456789012345678901234567890'],
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  `"${'{\\"a\\":'.repeat(20_000)}1${'}'.repeat(20_000)}"`,
  `[${'1,'.repeat(50_000)}1]`,
)

const mutation = fc.oneof(
  fc.record({ kind: fc.constant('value' as const), at: fc.nat(60), put: strange }),
  fc.record({
    kind: fc.constant('bytes' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    drop: fc.nat(30),
    put: fc.oneof(fc.constantFrom('', '{', '}', '"', '\\', '\n', '\n\n', 'data: ', '\0'), strange),
  }),
)
type Mutation = typeof mutation extends fc.Arbitrary<infer M> ? M : never

/** Puts another value behind the nth colon, or other bytes anywhere. */
function mutate(text: string, m: Mutation): string {
  if (m.kind === 'bytes') {
    const from = Math.floor(m.at * text.length)
    return text.slice(0, from) + m.put + text.slice(from + m.drop)
  }
  const values = [...text.matchAll(/(?<=":)(?:"(?:[^"\\]|\\.)*"|[\d.]+|null|\{|\[)/g)]
  const value = values[m.at % Math.max(1, values.length)]
  if (value === undefined) return text
  const open = value[0] === '{' || value[0] === '['
  // An opening that stays is wrapped, so that what stands in it moves down.
  return open
    ? `${text.slice(0, value.index)}${m.put},"x":${text.slice(value.index)}`
    : text.slice(0, value.index) + m.put + text.slice(value.index + value[0].length)
}

const hostile = fc.record({
  mutations: fc.array(mutation, { minLength: 1, maxLength: 3 }),
  framing: fc.constantFrom(...framings),
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
})

interface Started {
  readonly ai: AiEdge
  /** Has the provider answer so from now on. */
  play(answer: ProviderAnswer): void
}

async function start(t: TestContext): Promise<Started> {
  let playing: ProviderAnswer
  const provider = await startOrigin(t, async wire => {
    for (;;) {
      await wire.request()
      const answer = playing
      for (const piece of framed(answer)) await wire.send(piece)
      if (answer.framing === 'close') return
    }
  })
  const ai = await startAi(t, { openai: provider.url, anthropic: provider.url })
  return { ai, play: answer => (playing = answer) }
}

/** Asks, and returns the answer; null where it was visibly cut. */
async function ask(ai: AiEdge, way: Way): Promise<Message | null> {
  const client = await ai.edge.connect()
  const fields = [`Authorization: Bearer ${ai.token}`, 'Accept: application/json']
  await client.send(call(`${ai.rest}${way.path}`, way.ask, ...fields))
  try {
    return await client.response()
  } catch (error) {
    if (error instanceof Ended) return null
    throw error
  } finally {
    client.leave()
  }
}

for (const way of ways) {
  for (const framing of framings) {
    test(`${way.name}, framed by ${framing}`, async t => {
      const { ai, play } = await start(t)
      play({ body: way.answer, type: way.type, framing, cuts: [0.3] })
      const answer = await ask(ai, way)
      assert.equal(answer?.status, 200)
      assert.match(answer.text, /Hello\./)
    })

    test(`${way.name}, nested 20,000 deep and framed by ${framing}, does no harm`, async t => {
      const { ai, play } = await start(t)
      const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
      const body = way.answer.replace(/"(?:input|tool_calls|message)":/, `$&${deep},"x":`)
      assert.notEqual(body, way.answer)
      play({ body, type: way.type, framing, cuts: [] })
      const answer = await ask(ai, way)
      if (way.path !== '/run') assert.notEqual(answer?.status === 200 && isWhole(way, answer.text), true)
      play({ body: way.answer, type: way.type, framing, cuts: [] })
      assert.equal((await ask(ai, way))?.status, 200)
    })
  }

  test(`${way.name}, mutated at random: a complete response, a record or a cut, and the next call is served`, async t => {
    const { ai, play } = await start(t)
    await fc.assert(
      fc.asyncProperty(hostile, async ({ mutations, framing, cuts }) => {
        const body = mutations.reduce(mutate, way.answer)
        play({ body, type: way.type, framing, cuts })
        const answer = await ask(ai, way)
        if (answer !== null && answer.status !== 200) assert.equal(JSON.parse(answer.text).svc_error, true)
        else if (answer !== null && way.type === 'application/json' && way.path !== '/run')
          JSON.parse(answer.text)
        play({ body: way.answer, type: way.type, framing, cuts: [] })
        assert.equal((await ask(ai, way))?.status, 200)
      }),
      { numRuns: thorough(150, 50), interruptAfterTimeLimit: 6_000 },
    )
  })
}

/** Whether a rewritten answer ends as its API does. */
function isWhole({ type }: Way, text: string): boolean {
  return type === 'application/json' ? true : /data: \[DONE\]|"type":"message_stop"/.test(text)
}
