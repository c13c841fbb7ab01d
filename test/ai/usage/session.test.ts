import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SessionUsage, sumOf } from '../../../src/ai/usage/session.ts'

function session(...events: readonly unknown[]): SessionUsage {
  const session = new SessionUsage()
  for (const event of events) session.take(typeof event === 'string' ? event : JSON.stringify(event))
  return session
}

const created = { type: 'session.created', session: { model: 'gpt-realtime', instructions: 'none' } }
const done = (input: number, output: number, more: object = {}) => ({
  type: 'response.done',
  response: {
    output: [{ usage: { input_tokens: 9e6 } }],
    usage: { input_tokens: input, output_tokens: output },
    ...more,
  },
})

test('every response that ends is counted, with the model of the session', () => {
  const { model, responses, isEstimated } = session(created, done(10, 5), 'no JSON', [], done(20, 7))
  const { tokensIn, tokensOut } = sumOf(responses)
  deepEqual([model, tokensIn, tokensOut, isEstimated], ['gpt-realtime', 30, 12, false])
  deepEqual(
    responses.map(one => one.model),
    ['gpt-realtime', 'gpt-realtime'],
  )
})

test('Responses over a WebSocket names its model and tier in each response', () => {
  const { responses } = session(
    { type: 'response.created', response: { model: 'gpt-5', usage: null } },
    {
      type: 'response.completed',
      response: { model: 'gpt-5', service_tier: 'flex', usage: { input_tokens: 3, output_tokens: 4 } },
    },
  )
  const [{ model, tier, tokensIn }] = responses as [(typeof responses)[0]]
  deepEqual([model, tier, tokensIn], ['gpt-5', 'flex', 3])
})

test('a response that does not end is estimated, and one that ends is not', () => {
  const delta = { type: 'response.output_text.delta', delta: 'eight by' }
  const open = session(created, done(10, 5), delta, delta)
  deepEqual([sumOf(open.responses).tokensOut, open.isEstimated], [9, true])
  const ended = session(created, delta, done(10, 5))
  deepEqual([sumOf(ended.responses).tokensOut, ended.isEstimated], [5, false])
})

test('a session without any response has no tokens, and one with thousands loses none', () => {
  deepEqual([sumOf(session(created).responses).tokensIn, session().model], [null, null])
  const many = session(...Array.from({ length: 1500 }, () => done(1, 2)))
  equal(many.responses.length, 1000)
  deepEqual([sumOf(many.responses).tokensIn, sumOf(many.responses).tokensOut], [1500, 3000])
})

test('any event is taken without throwing', () => {
  const event = fc.record({
    type: fc.constantFrom('response.done', 'x'),
    response: fc.jsonValue(),
    session: fc.jsonValue(),
  })
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.json(), event)),
      events => void session(...events).responses,
    ),
  )
})
