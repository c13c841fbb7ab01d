import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isForItself, isReusableAt } from '../../src/answers/operations.ts'

const because = (path: string, body: object | string) =>
  isForItself(path, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))

const reusable = [
  ...['/v1/chat/completions', '/v1/completions', '/v1/messages', '/v1/responses', '/v1/embeddings'],
  ...['/v1/moderations', '/v2/rerank', '/v1/images/generations', '/v1/audio/speech'],
  ...['/api/chat', '/api/generate', '/api/embed', '/api/embeddings'],
  ...['/models/m:generateContent', '/models/m:streamGenerateContent', '/models/m:embedContent'],
  ...['/models/m:batchEmbedContents', '/models/m:rawPredict', '/models/m:streamRawPredict'],
  ...['/model/m/invoke', '/model/m/converse', '/model/m/invoke-with-response-stream'],
  ...['/model/m/converse-stream', '/v1/chat/completions?a=/files'],
]
const others = [
  ...['/v1/files', '/v1/batches', '/v1/messages/batches', '/v1/responses/r', '/v1/fine_tuning/jobs'],
  ...['/v1/audio/transcriptions', '/v1/images/edits', '/v1/models', '/v1/xmessages', '/', ''],
  ...['/v1/files?a=/v1/messages', '/models/m:predictLongRunning', '/model/a/b/invoke', '/api/pull'],
]

test('calls that only compute may have their responses reused, and no others', () => {
  for (const path of reusable) assert.equal(isReusableAt(path), true, path)
  for (const path of others) assert.equal(isReusableAt(path), false, path)
})

const stateful = [
  ['/v1/chat/completions', { store: true }],
  ['/v1/chat/completions', { store: 'false' }],
  ['/v1/chat/completions', '{"store":false,"store":true}'],
  ['/v1/messages', { container: 'c' }],
  ['/v1/messages', { container: false }],
  ['/models/m:rawPredict', { container: {} }],
  ['/model/m/invoke', { container: 'c' }],
  ['/v1/responses', { input: 'x' }],
  ['/v1/responses', { store: null }],
  ['/v1/responses', { store: true }],
  ['/v1/responses', { store: false, background: true }],
  ['/v1/responses', { store: false, previous_response_id: 'r' }],
  ['/v1/responses', { store: false, conversation: 'c' }],
  ['/v1/responses', { metadata: { store: false } }],
] as const

test('a response to a call that leaves something at its provider, or builds on it, is for that call alone', () => {
  for (const [path, body] of stateful) assert.equal(because(path, body), 'stateful', JSON.stringify(body))
})

const plain = [
  ['/v1/chat/completions', { model: 'm', messages: [{ store: true }] }],
  ['/v1/chat/completions', { store: false }],
  ['/v1/chat/completions', { store: null }],
  ['/v1/messages', { model: 'm', container: null, store: true }],
  ['/v1/embeddings', { store: true, container: 'c' }],
  ['/v1/responses', { store: false, background: false, previous_response_id: null, conversation: null }],
  ['/v1/responses', { background: null, store: false }],
] as const

test('a response to any other call may be reused', () => {
  for (const [path, body] of plain) assert.equal(because(path, body), null, JSON.stringify(body))
})

test('a response to a call whose body cannot be read is for that call alone', () => {
  for (const body of ['', '[]', 'x', 'null'])
    assert.equal(because('/v1/chat/completions', body), 'unreadable', body)
})
