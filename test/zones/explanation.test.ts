import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Explanation, outcomeSentence, policyInWords } from '../../src/zones/explanation.ts'

const sentenceOf = (explanation: object, member: 'name' | 'title' = 'name') =>
  outcomeSentence(explanation as Explanation, member, 'give it with --file')

test('an outcome is a sentence, whatever it is', () => {
  const passed = { outcome: 'forwarded', steps: [], response: null }
  assert.equal(sentenceOf({ ...passed, forward: null }), 'It would pass.')
  const forward = { origin: 'http://10.0.0.7:8080' }
  assert.equal(sentenceOf({ ...passed, forward }), 'It would pass, to http://10.0.0.7:8080.')
  assert.equal(
    sentenceOf({ outcome: 'responded', steps: [], response: { status: 301 }, forward: null }),
    'It would pass: the gateway itself responds with 301.',
  )
  assert.equal(
    sentenceOf({ outcome: 'depends', steps: [], response: null, forward: null }),
    'That depends on the body: give it with --file.',
  )
})

test('a refusal is explained by the error of the refusing step', () => {
  const error = { code: 1020, name: 'access_denied', title: 'Access denied' }
  const steps = [
    { verdict: 'passes', error: null },
    { verdict: 'refuses', error },
    { verdict: 'not_reached', error: null },
  ]
  const refused = { outcome: 'refused', steps, response: { status: 403 }, forward: null }
  assert.equal(sentenceOf(refused), 'It would be refused with 403: error 1020, access_denied.')
  assert.equal(sentenceOf(refused, 'title'), 'It would be refused with 403: error 1020, Access denied.')
})

test('a clause says which policy decides', () => {
  const policy = { id: '1', name: 'Small models' }
  assert.equal(policyInWords({ decision: 'allow', policy, limits: [] }), 'Small models allows it')
  assert.equal(policyInWords({ decision: 'block', policy, limits: [] }), 'Small models blocks it')
  assert.equal(policyInWords({ decision: 'no_match', policy: null, limits: [] }), 'none allows the call')
})
