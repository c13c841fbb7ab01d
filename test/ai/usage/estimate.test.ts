import { equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { estimatedIn, estimatedOut, textIn, tokensOfBytes } from '../../../src/ai/usage/estimate.ts'

const words = 'Forty characters are about ten tokens. '

test('each way to bring a text counts once, in any API', () => {
  const events = [
    { choices: [{ index: 0, delta: { role: 'assistant', content: words } }], model: 'a long name' },
    { choices: [{ delta: { reasoning_content: words, tool_calls: [{ function: { arguments: '' } }] } }] },
    { choices: [{ delta: { tool_calls: [{ id: 'an id', function: { arguments: words } }] } }] },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: words } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: words } },
    { type: 'response.output_text.delta', delta: words, item_id: 'an id' },
    { type: 'response.function_call_arguments.delta', delta: words },
    { candidates: [{ content: { parts: [{ text: words }], role: 'model' } }], modelVersion: 'a name' },
    { model: 'llama3.2', message: { role: 'assistant', content: words }, done: false },
    { model: 'llama3.2', response: words, done: false },
  ]
  for (const event of events) ok(textIn(event) === words.length, JSON.stringify(event))
  const silent = [
    { type: 'response.output_text.done', text: words },
    { type: 'response.output_item.done', item: { content: [{ text: words }] } },
    { type: 'response.output_audio.delta', delta: words },
    { type: 'response.created', response: { instructions: words } },
    { type: 'message_start', message: { content: [], model: 'a name' } },
    'text',
    null,
  ]
  for (const event of silent) equal(textIn(event), 0, JSON.stringify(event))
})

describe('an estimate', () => {
  const event = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`

  test('of a stream that was broken off counts what came, and what was not kept by its size', () => {
    const head = Buffer.from(event(words).repeat(10))
    equal(estimatedOut({ head, isEventStream: true }, head.length), Math.ceil((words.length * 10) / 4))
    equal(estimatedOut({ head, isEventStream: true }, head.length * 3), Math.ceil((words.length * 30) / 4))
    equal(estimatedOut({ head: Buffer.alloc(0), isEventStream: true }, 0), 0)
    const lines = Buffer.from(`${JSON.stringify({ message: { content: words } })}\n{"mess`)
    equal(estimatedOut({ head: lines, isEventStream: false }, lines.length), Math.ceil(words.length / 4))
  })

  test('of a request counts its texts, unless it has what is no text', () => {
    const messages = [{ role: 'user', content: words }]
    equal(estimatedIn(Buffer.from(JSON.stringify({ messages }))), tokensOfBytes(words.length + 4))
    const url = 'data:image/png;base64,AAAA'
    equal(estimatedIn(Buffer.from(JSON.stringify({ messages, image: { url } }))), null)
    for (const text of ['', '[]', '{']) equal(estimatedIn(Buffer.from(text)), null)
  })

  test('of anything throws nothing', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), fc.boolean(), (text, value, isEventStream) => {
        for (const one of [text, `data: ${JSON.stringify(value)}\n\n`, JSON.stringify(value)]) {
          ok(estimatedOut({ head: Buffer.from(one), isEventStream }, one.length) >= 0)
          estimatedIn(Buffer.from(one))
        }
        ok(textIn(value) >= 0)
      }),
    )
  })
})
