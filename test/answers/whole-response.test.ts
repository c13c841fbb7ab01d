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

test('a stream ends once: what follows its end may count, and is no content and no error', () => {
  const stop = { type: 'message_stop' }
  const finished = { candidates: [{ finishReason: 'STOP' }] }
  for (const events of [
    [stop, { choices: [], usage: {} }],
    [stop, { error: null }],
    [{ stopReason: 'end_turn' }, { usage: {} }],
    [{ candidates: [{ finishReason: 'STOP' }, { finishReason: 'STOP' }] }],
    [chunk, ' [DONE] '],
  ])
    assert.ok(streamed(...events), JSON.stringify(events))
  for (const events of [
    ['[DONE]', chunk],
    [stop, { error: 'x' }],
    [stop, { type: 'error' }],
    [stop, { type: 'ping' }],
    [finished, { candidates: [{}] }],
    [{ stopReason: 'end_turn' }, { type: 'throttlingException' }],
    [{ type: 'throttlingException' }, '[DONE]'],
    [{ stopReason: 5 }],
    [{ candidates: [] }],
    [{ candidates: {} }],
    [{ candidates: [{ finishReason: 'STOP' }, {}] }],
    [{ candidates: [{ finishReason: 'STOP' }, null] }],
    ['5', '[DONE]'],
    ['null', stop],
    [{ usage: {} }],
  ])
    assert.ok(!streamed(...events), JSON.stringify(events))
  const named = (event: string) => {
    const body = Buffer.from(`event: ${event}\ndata: {}\n\ndata: [DONE]\n\n`)
    return isWholeResponse({ contentType: null, isEventStream: true, isEncoded: false, body })
  }
  assert.deepEqual([named('done'), named('error')], [true, false])
})

test('of an encoded or an empty body, or one without a type that is known, nobody can tell', () => {
  const response = { contentType: 'application/json', isEventStream: false, isEncoded: false }
  const is = (more: object) => isWholeResponse({ ...response, body: Buffer.from('{}'), ...more })
  assert.equal(is({}), true)
  assert.equal(is({ isEncoded: true }), false)
  assert.equal(is({ contentType: null }), false)
  const types = ['APPLICATION/JSON', 'application/json ; charset=utf-8', 'application/vnd.x+json']
  for (const contentType of types) assert.equal(is({ contentType }), true, contentType)
  for (const contentType of [
    'application/jsonp',
    'text/plain',
    'x/application/json',
    'video/mp4',
    'imagex/png',
  ])
    assert.equal(is({ contentType }), false, contentType)
  assert.equal(is({ contentType: 'image/png', body: Buffer.alloc(1) }), true)
  assert.equal(is({ contentType: 'image/png', body: Buffer.alloc(0) }), false)
})

test('JSON lines are whole if all are objects without an error, and the last one is done', () => {
  const lines = (text: string) => whole(text, 'application/x-ndjson')
  for (const text of ['{"done":true}', '\n{"error":null}\n \n{"done":true}\n\n']) assert.ok(lines(text), text)
  for (const text of [
    '{"error":"x"}\n{"done":true}',
    'x\n{"done":true}',
    '{"done":true}\n{}',
    '{"done":1}',
    '\n',
  ])
    assert.ok(!lines(text), text)
  assert.ok(!lines('{"done":true,"error":"x"}'))
})

test('a body is whole if it is a result that does not expire', () => {
  for (const result of [
    { choices: [{ finish_reason: 'stop' }] },
    { type: 'message', stop_reason: 'end_turn' },
    { object: 'response', status: 'incomplete' },
    { success: true, result: { choices: [{ finish_reason: 'stop' }] } },
    { data: [{ b64_json: 'aGk=' }] },
    { data: [{ embedding: [1] }], error: null },
    { data: [{ url: null, b64_json: 'aGk=' }] },
    { data: [null] },
    { object: 'response', status: 'completed', error: null },
    { choices: [{ text: 'x' }, { finish_reason: 'length', error: null }] },
    { candidates: [{ finishReason: 'STOP' }] },
    { success: true, result: 'x' },
    { success: false, result: { choices: [] } },
    {},
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
    { data: [{ b64_json: 'aGk=' }, { url: 'https://images.example/1' }] },
    { type: 'error' },
    { candidates: [] },
    { candidates: [{}] },
    { choices: [5] },
    { choices: [{ finish_reason: 'stop' }, { finish_reason: null }] },
    { choices: [{ finish_reason: 'stop', error: 'x' }] },
    { object: 'response', choices: [{ finish_reason: 'stop' }] },
    { object: 'response', status: 'completed', error: {} },
    { type: 'message', choices: [{ finish_reason: 'stop' }] },
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
