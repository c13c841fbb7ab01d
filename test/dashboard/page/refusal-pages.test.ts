import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalView } from '../../../src/dashboard/page/refusal-pages.ts'

test('a page of a 503 says what the API says, and not that the store cannot be reached', () => {
  for (const reason of [
    'The store is busy and nothing was changed: retry later',
    'No process of the gateway serves requests: retry later',
  ]) {
    const { content } = refusalView({ ok: false, status: 503, faults: { '': reason }, retryAfter: null })
    assert.ok(String(content).includes(reason))
    assert.doesNotMatch(String(content), /cannot reach its store/)
  }
})
