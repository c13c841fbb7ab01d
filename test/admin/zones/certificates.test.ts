import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../api.ts'

test('the certificates of a zone are shown with their times, and why an order failed', async t => {
  const { ask, given, clock } = await startApi(t)
  const now = clock.now()
  const certificate = { subject: 'CN=a.test,O=Shop', issuer: 'CN=Test CA', names: ['a.test', '*.b.test'] }
  const none = {
    certificate: null,
    notAfter: null,
    issuedAt: null,
    nextAt: null,
    failures: 0,
    lastError: null,
  }
  const lastError = { at: now, message: 'unauthorized: no such page' }
  given.certificates = [
    { ...none, host: 'a.test', source: 'file', state: 'valid', certificate, notAfter: now },
    { ...none, host: 'b.test', source: 'acme', state: 'failing', nextAt: now, failures: 2, lastError },
  ]
  const { status, json } = await ask('GET', '/client/v4/zones/main/certificates')
  assert.equal(status, 200)
  const at = json.result[0].expires_on
  assert.equal(Date.parse(at), now)
  const shown = { issued_on: null, next_attempt_at: null, consecutive_failures: 0, last_error: null }
  assert.deepEqual(json.result, [
    { ...shown, ...certificate, host: 'a.test', source: 'file', status: 'valid', expires_on: at },
    {
      ...{ host: 'b.test', source: 'acme', status: 'failing', expires_on: null, issued_on: null },
      ...{ subject: null, issuer: null, names: [] },
      ...{ next_attempt_at: at, consecutive_failures: 2, last_error: { at, message: lastError.message } },
    },
  ])
})
