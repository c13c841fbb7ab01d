import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewVerification } from '../../../src/admin/oauth-clients/verification-view.ts'
import { challengePrefix } from '../../../src/domains/challenge.ts'
import type { DnsAnswer, DnsOutcome, DomainVerification } from '../../../src/store/records/oauth-client.ts'

const at = Date.UTC(2026, 0, 1)
const code = 'c0de'.repeat(8)
const text = challengePrefix + code

function verificationWith(more: Partial<DomainVerification> = {}): DomainVerification {
  return {
    host: 'app.example',
    code,
    status: 'pending',
    startedAt: at,
    deadline: at + 172_800_000,
    nextCheckAt: at + 15_500,
    checks: 0,
    lastAnswer: null,
    verifiedAt: null,
    ...more,
  }
}

const answer = (outcome: DnsOutcome, records: readonly string[] = []): DnsAnswer => ({ at, outcome, records })
const hintOf = (lastAnswer: DnsAnswer) =>
  viewVerification(verificationWith({ status: 'in_progress', lastAnswer })).last_answer?.hint

test('a verification that was never checked shows what to publish, where, and until when', () => {
  assert.deepEqual(viewVerification(verificationWith()), {
    status: 'pending',
    text,
    host: 'app.example',
    next_check: '2026-01-01T00:00:15.500Z',
    deadline: '2026-01-03T00:00:00.000Z',
  })
})

test('a verified domain shows since when, and no next check', () => {
  const lastAnswer = answer('found', [text])
  const verified = verificationWith({
    status: 'verified',
    nextCheckAt: null,
    verifiedAt: at + 1_000,
    lastAnswer,
  })
  const { last_answer, next_check, verified_at } = viewVerification(verified)
  assert.deepEqual([next_check, verified_at], [undefined, '2026-01-01T00:00:01.000Z'])
  assert.deepEqual(last_answer, { at: '2026-01-01T00:00:00.000Z', outcome: 'found', records: [text] })
})

for (const outcome of [
  'no_records',
  'no_such_name',
  'server_failure',
  'refused',
  'timeout',
  'error',
] as const)
  test(`${outcome} has a hint of its own`, () => {
    assert.match(hintOf(answer(outcome)) ?? '', /^[A-Z].{20,}[^.]$/)
  })

test('if the record is missing, the hint contains its whole value', () => {
  for (const outcome of ['no_records', 'no_such_name'] as const)
    assert.ok(hintOf(answer(outcome))!.endsWith(`with the value ${text}`), outcome)
})

test('an error may be of the resolver, or of what it says', () => {
  const hint = hintOf(answer('error'))
  assert.equal(hint, "The gateway's resolver is unreachable or sent an invalid response")
})

for (const [what, records, hint] of [
  ['quotation marks in the value', [`"${text}"`], /quotation marks/],
  ['typographic quotation marks', [`“${text}”`], /quotation marks/],
  ['a space behind the value', ['v=spf1 -all', `${text} `], /spaces/],
  ['the code without its prefix', [code], /its whole value/],
  ['the prefix in capitals', [text.toUpperCase()], /its whole value/],
  ['the code of another client', [`${challengePrefix}${'0'.repeat(32)}`], /another client/],
  ['other records', ['v=spf1 -all'], /but not this one/],
] as const)
  test(`a record with ${what} is recognised`, () => {
    const said = hintOf(answer('no_match', records)) ?? ''
    assert.match(said, hint)
    assert.ok(said.includes(text), said)
  })
