import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterAnswer, counts } from '../../src/domains/attempt.ts'
import type { DnsAnswer, DnsOutcome, DomainVerification } from '../../src/store/records/oauth-client.ts'
import { oauthClient, verification } from '../store/contract-specimens.ts'

const outcomes: readonly DnsOutcome[] = [
  ...(['no_match', 'no_records', 'no_such_name', 'server_failure'] as const),
  ...(['refused', 'timeout', 'error'] as const),
]
const said = (outcome: DnsOutcome): DnsAnswer => ({ at: 1, outcome, records: [] })
const asked = verification({ nextCheckAt: 1_000 })

const nowKept: readonly [what: string, kept: DomainVerification | null, found: boolean, other: boolean][] = [
  ['as it was', { ...asked }, true, true],
  ['due at another time', { ...asked, nextCheckAt: 2_000 }, true, false],
  [
    'begun anew with the same code',
    { ...asked, status: 'pending', startedAt: 2_000, nextCheckAt: 2_000 },
    true,
    false,
  ],
  ['begun anew with another code', { ...asked, code: verification().code }, false, false],
  ['of another host', { ...asked, host: 'other.example.com' }, false, false],
  ['verified', { ...asked, status: 'verified', nextCheckAt: null }, false, false],
  ['failed', { ...asked, status: 'failed', nextCheckAt: null }, false, false],
  ['none', null, false, false],
]

for (const [what, kept, found, other] of nowKept) {
  test(`when the verification is now ${what}, the proof ${found ? 'counts' : 'is late'}, other answers ${other ? 'count' : 'are late'}`, () => {
    assert.equal(counts(kept, asked, said('found')), found)
    for (const outcome of outcomes) assert.equal(counts(kept, asked, said(outcome)), other, outcome)
  })
}

const { startedAt, deadline } = asked

test('the first result ends the pending state, and is not a revision of the client', () => {
  const pending = { ...asked, status: 'pending', checks: 0, lastAnswer: null } as const
  const client = oauthClient({ verification: pending })
  const answer = said('no_records')
  const next = afterAnswer(client, pending, answer, startedAt)
  const { nextCheckAt } = next.verification!
  assert.ok(nextCheckAt! > startedAt && nextCheckAt! < startedAt + 20_000)
  const verification = {
    ...pending,
    status: 'in_progress',
    nextCheckAt,
    checks: 1,
    lastAnswer: answer,
  } as const
  assert.deepEqual(next, { ...client, verification })
})

test('a further result without a proof changes nothing else in the client', () => {
  const client = oauthClient({ verification: asked })
  for (const outcome of outcomes) {
    const next = afterAnswer(client, asked, said(outcome), startedAt + 1)
    const { nextCheckAt } = next.verification!
    const verification = { ...asked, nextCheckAt, checks: asked.checks + 1, lastAnswer: said(outcome) }
    assert.deepEqual(next, { ...client, verification })
  }
})

test('the proof ends it, also after the deadline', () => {
  const client = oauthClient({ verification: asked })
  for (const now of [startedAt + 5, deadline + 5]) {
    const next = afterAnswer(client, asked, said('found'), now)
    const { status, nextCheckAt, verifiedAt, checks, lastAnswer } = next.verification!
    assert.deepEqual([status, nextCheckAt, verifiedAt, checks], ['verified', null, now, asked.checks + 1])
    assert.deepEqual(lastAnswer, said('found'))
    assert.deepEqual([next.revision, next.updatedAt], [client.revision + 1, now])
  }
})

test('by a clock behind that of the store, which says when a check is due, the next one is due later all the same', () => {
  const client = oauthClient({ verification: asked })
  const behind = asked.nextCheckAt! - 60_000
  const next = afterAnswer(client, asked, said('no_records'), behind).verification!
  assert.ok(next.nextCheckAt! > asked.nextCheckAt! + 10_000)
  const last = { ...asked, nextCheckAt: deadline }
  assert.equal(
    afterAnswer(client, last, said('no_records'), deadline - 60_000).verification!.status,
    'failed',
  )
})

test('any other result fails it from the deadline on, and not before', () => {
  const client = oauthClient({ verification: asked })
  for (const outcome of outcomes) {
    const before = afterAnswer(client, asked, said(outcome), deadline - 1)
    assert.deepEqual(
      [before.verification!.status, before.verification!.nextCheckAt],
      ['in_progress', deadline],
    )
    const after = afterAnswer(client, asked, said(outcome), deadline)
    const { status, nextCheckAt, verifiedAt } = after.verification!
    assert.deepEqual([status, nextCheckAt, verifiedAt], ['failed', null, null])
    assert.deepEqual([before.revision, before.updatedAt], [client.revision, client.updatedAt])
    assert.deepEqual([after.revision, after.updatedAt], [client.revision + 1, deadline])
  }
})
