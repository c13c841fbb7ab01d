import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearerChallenge } from '../../src/protect/challenge.ts'

test('a challenge names what is wrong with a token, if there was one', () => {
  assert.equal(bearerChallenge(null), 'Bearer')
  assert.equal(bearerChallenge('invalid_token'), 'Bearer error="invalid_token"')
})
