import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { refusalFor, refuse, retryAfterOf } from '../../../src/errors/catalogue/refusal.ts'

test('a refusal keeps its facts and its cause', () => {
  const cause = new Error('boom')
  const faults = [{ code: 7001, message: 'This address takes POST alone', pointer: null }]
  const wording = { heading: 'POST alone', detail: 'It takes POST alone.', guidance: '**Do not retry.**' }
  assert.deepEqual(refuse('method_not_allowed', { allow: 'POST', faults, wording }, cause), {
    error: 'method_not_allowed',
    retryAfter: null,
    mayRetry: null,
    allow: 'POST',
    faults,
    wording,
    cause,
  })
})

test('a refusal without facts has no faults, and uses the words of its row', () => {
  assert.deepEqual(refuse('origin_down'), {
    error: 'origin_down',
    retryAfter: null,
    mayRetry: null,
    allow: null,
    faults: [],
    wording: null,
    cause: null,
  })
})

test('the wait of a refusal is that of its row unless the refusal knows better', () => {
  assert.equal(retryAfterOf(refuse('rate_limited')), 30)
  assert.equal(retryAfterOf(refuse('rate_limited', { retryAfter: 7 })), 7)
})

test('a wait is rounded up to whole seconds, and is at least one', () => {
  for (const [given, told] of [
    [1.2, 2],
    [0, 1],
    [-5, 1],
    [0.001, 1],
  ] as const) {
    assert.equal(retryAfterOf(refuse('rate_limited', { retryAfter: given })), told)
  }
})

test('an error that is not retryable never has a wait', () => {
  assert.equal(retryAfterOf(refuse('ssl_handshake_failed', { retryAfter: 10 })), null)
})

test('whatever number a rule gives, the wait is a delta-seconds', () => {
  fc.assert(
    fc.property(fc.double(), given => {
      assert.match(String(retryAfterOf(refuse('rate_limited', { retryAfter: given }))), /^[1-9]\d{0,9}$/)
    }),
  )
})

test('a preview is requested by code', () => {
  assert.equal(refusalFor('522').error, 'connection_timeout')
  assert.equal(refusalFor('1015').error, 'rate_limited')
})

test('codes that are not in the catalogue cannot be previewed', () => {
  for (const code of ['', '404', '400', '1046', '0522', '522 ', '5e2', 'connection_timeout', '__proto__']) {
    assert.equal(refusalFor(code).error, 'not_found', code)
  }
})
