import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FirstContent } from '../../../src/edge/ai-call/content-start.ts'
import { answerHead } from '../../help/exchange.ts'

const stream = answerHead('HTTP/1.1 200 OK', 'Content-Type: text/event-stream')
const say = (value: object, event = '') =>
  `${event === '' ? '' : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`
const chunk = (delta: object, more: object = {}) =>
  say({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null, ...more }] })

const openings: Readonly<Record<string, string>> = {
  'a comment': ': OPENROUTER PROCESSING\n\n',
  'an empty line': '\n',
  'an event without data': 'event: content_block_delta\n\n',
  'whose turn it is': chunk({ role: 'assistant', content: '', refusal: null, tool_calls: [] }),
  'a chunk without choices': say({ choices: [], prompt_filter_results: [{}] }),
  'a completion without text': say({ choices: [{ index: 0, text: '', finish_reason: null }] }),
  message_start: say({ type: 'message_start', message: { content: [] } }, 'message_start'),
  ping: say({ type: 'ping' }, 'ping'),
  'a ping by its name alone': say({}, 'ping'),
  content_block_start: say({ type: 'content_block_start', content_block: { type: 'text', text: '' } }),
  'message-start': say({ type: 'message-start' }),
  'response.created': say({ type: 'response.created', response: { instructions: 'x'.repeat(9_999) } }),
  'response.in_progress': say({ type: 'response.in_progress' }),
  'response.output_item.added': say({ type: 'response.output_item.added', item: { type: 'reasoning' } }),
  'response.content_part.added': say({ type: 'response.content_part.added' }),
  'thread.run.queued': say({ object: 'thread.run' }, 'thread.run.queued'),
  '[DONE]': 'data: [DONE]\n\n',
}

const contents: Readonly<Record<string, string>> = {
  'a word': chunk({ content: 'Hi' }),
  'a thought': chunk({ role: 'assistant', content: '', reasoning_content: 'Hm' }),
  'a tool call': chunk({ content: null, tool_calls: [{ index: 0, function: { name: 'f' } }] }),
  'an end': chunk({}, { finish_reason: 'stop' }),
  'a second choice': say({ choices: [{ delta: { role: 'assistant' } }, { delta: { content: 'Hi' } }] }),
  text: say({ choices: [{ index: 0, text: 'Hi', finish_reason: null }] }),
  content_block_delta: say({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'Hi' } }),
  'response.output_text.delta': say({ type: 'response.output_text.delta', delta: 'Hi' }),
  'a fault': say({ error: { message: 'overloaded' }, choices: [] }),
  'an error': say({ type: 'error', error: {} }, 'error'),
  candidates: say({ candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }),
  'no JSON': 'data: Hi\n\n',
  'a very large event': say({ type: 'response.created', x: 'x'.repeat(2 ** 20) }),
}

for (const [what, text] of Object.entries(openings))
  test(`${what} is no content`, () => {
    assert.equal(new FirstContent(stream).push(Buffer.from(text)), false)
  })

for (const [what, text] of Object.entries(contents))
  test(`${what} is content`, () => {
    const first = new FirstContent(stream)
    assert.equal(first.push(Buffer.from(Object.values(openings).join(''))), false)
    assert.equal(first.push(Buffer.from(text)), true)
  })

test('content is found where its event ends, wherever packets are cut', () => {
  const before = Buffer.from(Object.values(openings).join(''))
  const bytes = Buffer.concat([before, Buffer.from(contents['a word']!)])
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 9 }), cuts => {
      const first = new FirstContent(stream)
      let from = 0
      for (const cut of cuts.sort((a, b) => a - b)) {
        assert.equal(first.push(bytes.subarray(from, cut)), false)
        from = cut
      }
      assert.equal(first.push(bytes.subarray(from)), true)
    }),
  )
})

test('no events make it throw', () => {
  fc.assert(
    fc.property(fc.json(), fc.uint8Array({ maxLength: 60 }), (json, bytes) => {
      const first = new FirstContent(stream)
      first.push(Buffer.from(`data: ${json}\n\ndata: {"choices":[${json},{"delta":${json}}]}\n\n`))
      first.push(Buffer.from(bytes))
    }),
  )
})

test('the first byte is content where no event can be read', () => {
  const encoded = answerHead('HTTP/1.1 200 OK', 'Content-Type: text/event-stream', 'Content-Encoding: gzip')
  const json = answerHead('HTTP/1.1 200 OK', 'Content-Type: application/json')
  for (const head of [encoded, json]) {
    assert.equal(new FirstContent(head).push(Buffer.alloc(0)), false)
    assert.equal(new FirstContent(head).push(Buffer.from('{')), true)
  }
})
