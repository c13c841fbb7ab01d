import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  endDigestOf,
  endOf,
  familyOf,
  graceOf,
  replayReason,
  successionOf,
} from '../../../src/oauth/grants/token-family.ts'
import { credential } from '../../store/contract-specimens.ts'

const day = 86_400_000
const family = 'f'.repeat(32)
const owned = { user: 'ada', client: 'app', grant: 'consent' }
const refresh = credential('refresh_token')
const access = credential('access_token')

test('a family is what a code or token says, if it is a text', () => {
  assert.equal(familyOf(credential('access_token', { data: { family } })), family)
  for (const data of [null, {}, { family: 1 }, { family: null }])
    assert.equal(familyOf(credential('access_token', { data })), null, JSON.stringify(data))
})

test('the end of a family outlasts every token of it', () => {
  const { digest, createdAt, expiresAt, ...end } = endOf(family, { ...refresh, ...owned }, 7)
  assert.deepEqual([digest, createdAt, expiresAt], [endDigestOf(family), 7, 7 + 31 * day])
  assert.deepEqual(end, { kind: 'ended_family', ...owned, data: null, consumedAt: null })
})

test('the last tokens of a family are recorded for as long as its refresh token lasts', () => {
  const spent = credential('authorization_code', { ...owned, data: { family } })
  for (const issued of [
    [refresh, access],
    [access, refresh],
  ])
    assert.deepEqual(successionOf(spent, issued, 7), {
      ...{ kind: 'token_family', digest: endDigestOf(family), ...owned, consumedAt: null },
      data: { spent: spent.digest, refresh: refresh.digest, access: access.digest },
      ...{ createdAt: 7, expiresAt: refresh.expiresAt },
    })
  for (const issued of [[access], [refresh], []]) assert.equal(successionOf(spent, issued, 7), null)
  assert.equal(successionOf({ ...spent, data: {} }, [refresh, access], 7), null)
})

test('only a refresh token can be used again, for half a minute', () => {
  assert.deepEqual((['refresh_token', 'authorization_code'] as const).map(graceOf), [30_000, 0])
})

test('a replay is told with what was used, and when', () => {
  const ended = 'so the tokens that came of it are revoked'
  for (const [kind, consumedAt, reason] of [
    ['refresh_token', null, 'another refresh token has taken the place of this one'],
    ['refresh_token', 10_000, 'the refresh token was used, or replaced, before, 31.5 s ago'],
    ['authorization_code', 10_000, 'the code was used before, 31.5 s ago'],
    ['authorization_code', 50_000, 'the code was used before, 0.0 s ago'],
  ] as const)
    assert.equal(replayReason(kind, consumedAt, 41_500), `${reason}, ${ended}`)
})
