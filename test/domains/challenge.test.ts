import assert from 'node:assert/strict'
import { test } from 'node:test'
import { challengeText, verificationFor } from '../../src/domains/challenge.ts'
import type { DnsAnswer, DomainVerification } from '../../src/store/records/oauth-client.ts'

const second = 1_000
const twoDays = 172_800_000
const now = Date.UTC(2026, 0, 10)
const code = '0123456789abcdef'.repeat(2)
const uri = 'https://app.svc-shop.com/'

const saw = (ago: number): DnsAnswer => ({ at: now - ago, outcome: 'no_match', records: ['v=spf1 -all'] })

function kept(more: Partial<DomainVerification> = {}): DomainVerification {
  return {
    host: 'app.svc-shop.com',
    code,
    status: 'in_progress',
    startedAt: now - 3_600 * second,
    deadline: now - 3_600 * second + twoDays,
    nextCheckAt: now + 60 * second,
    checks: 100,
    lastAnswer: saw(30 * second),
    verifiedAt: null,
    ...more,
  }
}

const anew = (more: Partial<DomainVerification> = {}) => ({
  host: 'app.svc-shop.com',
  code,
  status: 'pending',
  startedAt: now,
  deadline: now + twoDays,
  nextCheckAt: now,
  checks: 0,
  lastAnswer: null,
  verifiedAt: null,
  ...more,
})

test('the text to publish is the prefix and the code', () => {
  assert.equal(challengeText(kept()), `svc_oauth_client_publisher=${code}`)
})

test('the first client_uri starts two days with a code of its own, and DNS is checked at once', () => {
  const first = verificationFor(null, uri, now) as DomainVerification
  const second = verificationFor(null, uri, now) as DomainVerification
  assert.match(first.code, /^[\da-f]{32}$/)
  assert.notEqual(first.code, second.code)
  assert.deepEqual(first, anew({ code: first.code }))
})

test('the same host again is checked now, and changes neither deadline nor code', () => {
  for (const status of ['pending', 'in_progress'] as const)
    for (const same of [uri, 'https://app.svc-shop.com/other/path', 'https://APP.svc-shop.com.:8443/'])
      assert.deepEqual(verificationFor(kept({ status }), same, now), kept({ status, nextCheckAt: now }))
})

test('it is checked no sooner than 5 s after the last result, however often that is requested', () => {
  const soon = kept({ lastAnswer: saw(2 * second), nextCheckAt: now + 10 * second })
  const asked = verificationFor(soon, uri, now)
  assert.deepEqual(asked, { ...soon, nextCheckAt: now + 3 * second })
  assert.deepEqual(verificationFor(asked as DomainVerification, uri, now + second), asked)
})

test('a check that is due already, or sooner, stays: it may be running', () => {
  for (const nextCheckAt of [now - 20 * second, now, now + second]) {
    const due = kept({ nextCheckAt, lastAnswer: saw(0) })
    assert.deepEqual(verificationFor(due, uri, now), due)
  }
})

test('when the two days are over they start again with the same code and the last result', () => {
  const lastAnswer = saw(30 * second)
  const failed = kept({ status: 'failed', nextCheckAt: null })
  const late = kept({ deadline: now, nextCheckAt: now })
  for (const over of [failed, late]) assert.deepEqual(verificationFor(over, uri, now), anew({ lastAnswer }))
})

test('after a clock was set back the owner need not wait for a time far ahead', () => {
  const year = 365 * 24 * 60 * 60 * second
  const ahead = kept({ startedAt: now + year, deadline: now + year, nextCheckAt: now + year })
  assert.deepEqual(verificationFor(ahead, uri, now), anew({ lastAnswer: ahead.lastAnswer }))
  const lastAnswer = { ...saw(0), at: now + year }
  const asked = verificationFor(kept({ lastAnswer, nextCheckAt: now + year }), uri, now)
  assert.equal((asked as DomainVerification).nextCheckAt, now + 5 * second)
})

test('a verified host stays verified, under any path', () => {
  const verified = kept({
    status: 'verified',
    nextCheckAt: null,
    verifiedAt: now - second,
    deadline: now - 1,
  })
  assert.equal(verificationFor(verified, uri, now), verified)
  assert.equal(verificationFor(verified, `${uri}new/path`, now), verified)
})

test('another host begins with another code, but never once one was verified', () => {
  const other = 'https://other.svc-shop.com/'
  for (const status of ['pending', 'in_progress', 'failed'] as const) {
    const next = verificationFor(kept({ status }), other, now) as DomainVerification
    assert.notEqual(next.code, code)
    assert.deepEqual(next, anew({ host: 'other.svc-shop.com', code: next.code }))
  }
  const verified = kept({ status: 'verified', nextCheckAt: null, verifiedAt: now })
  assert.equal(verificationFor(verified, other, now), 'host_frozen')
  assert.equal(verificationFor(verified, 'https://svc-shop.com/', now), 'host_frozen')
})

test('a verified host is remembered without a client_uri, and comes back alone', () => {
  const verified = kept({ status: 'verified', nextCheckAt: null, verifiedAt: now })
  const without = verificationFor(verified, null, now)
  assert.equal(without, verified)
  assert.equal(verificationFor(verified, 'https://other.svc-shop.com/', now), 'host_frozen')
  assert.equal(verificationFor(verified, uri, now), verified)
})

test('without a client_uri there is nothing to verify', () => {
  for (const status of ['pending', 'in_progress', 'failed'] as const)
    assert.equal(verificationFor(kept({ status }), null, now), null)
  assert.equal(verificationFor(kept(), null, now), null)
  assert.equal(verificationFor(null, null, now), null)
})
