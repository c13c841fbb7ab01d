import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isWholeResponse } from '../../src/answers/whole-response.ts'

const streamed = (...events: readonly (string | object)[]) => {
  const text = events.map(event => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
  const body = Buffer.from(text.join(''))
  return isWholeResponse({ contentType: 'text/event-stream', isEventStream: true, isEncoded: false, body })
}
const whole = (value: unknown, contentType = 'application/json') => {
  const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  return isWholeResponse({ contentType, isEventStream: false, isEncoded: false, body })
}

const chunk = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }] }

test('a stream is whole with the event that ends it, and without an error', () => {
  assert.ok(streamed(chunk, '[DONE]'))
  assert.ok(streamed({ type: 'message_start' }, { type: 'message_stop' }))
  assert.ok(streamed({ type: 'response.created' }, { type: 'response.completed' }))
  assert.ok(streamed({ type: 'response.incomplete' }))
  assert.ok(streamed({ candidates: [{ finishReason: 'STOP' }] }, { usageMetadata: {} }))
  for (const events of [
    [chunk],
    [{ error: { message: 'x' } }, '[DONE]'],
    [{ type: 'error' }, { type: 'message_stop' }],
    [{ type: 'response.failed' }],
    [{ type: 'message_stop' }, { type: 'message_start' }],
    [{ candidates: [{}] }],
    ['{"choices":', '[DONE]'],
  ])
    assert.ok(!streamed(...events), JSON.stringify(events))
})

test('a body is whole if it is a result that does not expire', () => {
  for (const result of [
    { choices: [{ finish_reason: 'stop' }] },
    { type: 'message', stop_reason: 'end_turn' },
    { object: 'response', status: 'incomplete' },
    { success: true, result: { choices: [{ finish_reason: 'stop' }] } },
    { data: [{ b64_json: 'aGk=' }] },
    { data: [{ embedding: [1] }], error: null },
  ])
    assert.ok(whole(result), JSON.stringify(result))
  for (const value of [
    { choices: [] },
    { choices: [{ finish_reason: null }] },
    { type: 'message', stop_reason: null },
    { object: 'response', status: 'in_progress' },
    { error: { message: 'x' }, choices: [{ finish_reason: 'stop' }] },
    { success: true, result: { error: 'x' } },
    { data: [{ url: 'https://images.example/1' }] },
    [1],
    '{"choices":[{"finish_reason":"stop"}]',
    '',
  ])
    assert.ok(!whole(value), JSON.stringify(value))
  assert.ok(whole('{"done":false}\n{"done":true}\n', 'application/x-ndjson'))
  assert.ok(!whole('{"done":false}\n', 'application/x-ndjson'))
  assert.ok(whole('ID3', 'audio/mpeg'))
  assert.ok(!whole('<p>', 'text/html'))
})

test('any bytes are whole or not', () => {
  fc.assert(
    fc.property(fc.string(), fc.boolean(), (text, isEventStream) => {
      const response = { contentType: 'application/json', isEventStream, isEncoded: false }
      assert.equal(typeof isWholeResponse({ ...response, body: Buffer.from(text) }), 'boolean')
    }),
  )
})
