import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { KeyRing } from '../../../src/ai/providers/key-ring.ts'
import { Providers } from '../../../src/ai/providers/providers.ts'
import { parseAiTarget } from '../../../src/ai/target.ts'
import { AiExchange } from '../../../src/edge/ai-call/ai-exchange.ts'
import { refuseWithoutKey, verdictOnKey } from '../../../src/edge/ai/provider-keys.ts'
import { answerHead, stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

const rest = `/client/v4/accounts/${'a'.repeat(32)}/ai/v1/chat/completions`

/** Makes a call with the first of these keys, and what the provider says of it. */
function callWith(t: TestContext, values: readonly string[]) {
  const steps = stepsOver(t, [])
  const lines: string[] = []
  steps.plane.log.warn = (...facts: unknown[]) => void lines.push(JSON.stringify(facts))
  const keys = new KeyRing(values)
  const route = new Providers({ providers: [] }).native('openai', '/chat/completions')
  assert.ok(!('error' in route))
  const call = () => {
    const x = steps.exchange(request(`POST ${rest}`))
    const ai = new AiExchange(parseAiTarget(rest)!, x.head, x.client.last)
    ai.provider = route.provider
    ai.keys = keys
    ai.key = keys.next(steps.clock.monotonic())
    return { x, ai }
  }
  const say = ({ x, ai }: ReturnType<typeof call>, status: number, ...fields: string[]) => {
    const verdict = verdictOnKey(x, ai, answerHead(`HTTP/1.1 ${status} X`, ...fields), true)
    if (verdict === 'another') ai.key = keys.next(steps.clock.monotonic(), ai.doubtedKeys ?? undefined)
    return verdict
  }
  return { steps, keys, call, say, lines }
}

test('a key that is turned away rests, and the log has its place and nothing of it', t => {
  const { call, say, lines, keys } = callWith(t, ['secret-one', 'secret-two'])
  const one = call()
  assert.equal(say(one, 429, 'Retry-After: 30'), 'another')
  assert.equal(keys.placeOf(one.ai.key!), 2)
  assert.equal(say(one, 200), null)
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /"key":1,"status":429,"seconds":30/)
  assert.doesNotMatch(lines[0]!, /secret/)
})

test('a call goes from key to key no more often than there are keys, though they are back at once', t => {
  const { steps, call, say } = callWith(t, ['a', 'b', 'c'])
  const one = call()
  let tries = 1
  for (; say(one, 429) === 'another'; tries++) steps.clock.advance(600_000)
  assert.equal(tries, 3)
})

test('a key that works for others is not set aside for one call, until the provider says that it does not know it', t => {
  const { call, say, lines } = callWith(t, ['a', 'b'])
  say(call(), 200)
  say(call(), 200)
  const revoked = call()
  assert.equal(say(revoked, 401), 'another')
  assert.equal(lines.length, 1)
  const again = call()
  assert.equal(again.ai.key!.workedAt, again.ai.keys!.next(0)!.workedAt)
  assert.equal(revoked.ai.keys!.isTrusted(revoked.ai.keys!.keyOf('a')!, 0), false)
})

test('when all keys rest, calls are refused until the first one is back', t => {
  const { steps, call, say } = callWith(t, ['a', 'b'])
  const one = call()
  assert.equal(say(one, 429, 'Retry-After: 30'), 'another')
  const refusal = say(one, 429, 'Retry-After: 10')
  assert.ok(typeof refusal === 'object' && refusal !== null)
  assert.deepEqual([refusal.error, refusal.retryAfter], ['rate_limited', 10])
  const { x, ai } = call()
  assert.equal(refuseWithoutKey(x, ai)?.retryAfter, 10)
  steps.clock.advance(10_000)
  assert.equal(refuseWithoutKey(x, ai), null)
})
