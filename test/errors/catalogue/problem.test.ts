import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problem, timestampOf } from '../../../src/errors/catalogue/problem.ts'
import { refuse } from '../../../src/errors/catalogue/refusal.ts'

const occasion = {
  ray: '8f3c1e0a9b7d2c46',
  zone: 'www.example.com',
  accept: null,
  time: Date.UTC(2026, 2, 4, 5, 6, 7, 890),
}
const documentation = 'https://docs.example.com/errors'

test('a record has the members of the interface, in its order', () => {
  const record = problem(refuse('connection_timeout'), occasion, documentation)
  assert.deepEqual(Object.keys(record), [
    'type',
    'title',
    'status',
    'detail',
    'instance',
    'error_code',
    'error_name',
    'error_category',
    'ray_id',
    'timestamp',
    'zone',
    'svc_error',
    'retryable',
    'retry_after',
    'owner_action_required',
    'what_you_should_do',
    'footer',
  ])
})

test('a record has the error and its occasion', () => {
  const { detail, what_you_should_do, footer, ...told } = problem(
    refuse('connection_timeout'),
    occasion,
    documentation,
  )
  assert.deepEqual(told, {
    type: 'https://docs.example.com/errors/522',
    title: 'Error 522: Connection timed out',
    status: 522,
    instance: '8f3c1e0a9b7d2c46',
    error_code: 522,
    error_name: 'connection_timeout',
    error_category: 'origin',
    ray_id: '8f3c1e0a9b7d2c46',
    timestamp: '2026-03-04T05:06:07Z',
    zone: 'www.example.com',
    svc_error: true,
    retryable: true,
    retry_after: 120,
    owner_action_required: true,
  })
  assert.match(what_you_should_do, /\b120 s\b/)
})

test('the wait of a rule is in the record and in its guidance', () => {
  const record = problem(refuse('rate_limited', { retryAfter: 6.5 }), occasion, documentation)
  assert.equal(record.retry_after, 7)
  assert.match(record.what_you_should_do, /\b7 s\b/)
})

test('a record that is not retryable has no retry_after at all', () => {
  const record = problem(refuse('invalid_ssl_certificate', { retryAfter: 5 }), occasion, documentation)
  assert.equal(record.retryable, false)
  assert.ok(!('retry_after' in record))
})

test('the cause of a refusal stays out of the record', () => {
  const cause = new Error('connect ECONNREFUSED 10.1.2.3:8443')
  assert.doesNotMatch(
    JSON.stringify(problem(refuse('origin_down', {}, cause), occasion, documentation)),
    /10\.1|ECONN/,
  )
})

test('timestamps are ISO 8601 in UTC, to the second', () => {
  assert.equal(timestampOf(0), '1970-01-01T00:00:00Z')
  assert.equal(timestampOf(999), '1970-01-01T00:00:00Z')
})
