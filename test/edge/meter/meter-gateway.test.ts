import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GatewayRateLimit } from '../../../src/store/records/records.ts'
import { AiExchange } from '../../../src/edge/ai-call/ai-exchange.ts'
import { meterGateway } from '../../../src/edge/meter/meter-gateway.ts'
import { parseAiTarget } from '../../../src/ai/target.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'
import { gateway } from '../../store/contract-specimens.ts'

const path = `/client/v4/accounts/${'0'.repeat(32)}/ai/v1/chat/completions`
const two: GatewayRateLimit = { limit: 2, interval: 60, technique: 'sliding' }

test('a gateway lets in as many calls as its limit says, each gateway of each account by itself', t => {
  const steps = stepsOver(t, [])
  const [one, other] = ['a'.repeat(32), 'b'.repeat(32)]
  const call = (account: string, id: string, rateLimit: GatewayRateLimit | null) => {
    const x = steps.exchange(request(`POST ${path}`))
    x.ai = new AiExchange(parseAiTarget(path)!, x.head, x.client.last)
    x.ai.gateway = gateway({ account, id, ...(rateLimit && { rateLimit }) })
    const refusal = meterGateway(x)
    assert.ok(!(refusal instanceof Promise))
    return { refusal, lines: x.addedLines }
  }
  assert.deepEqual(call(one, 'x', null), { refusal: null, lines: '' })
  assert.deepEqual(call(one, 'x', { ...two, limit: 0 }), { refusal: null, lines: '' })
  assert.match(call(one, 'x', two).lines, /^RateLimit: "ai-gateway";r=1;t=60\r\n/)
  assert.equal(call(one, 'x', two).refusal, null)
  const { refusal, lines } = call(one, 'x', two)
  assert.equal(refusal?.error, 'rate_limited')
  assert.ok(refusal.retryAfter! >= 60 && refusal.retryAfter! <= 61, `${refusal.retryAfter} s`)
  assert.match(lines, /;r=0;/)
  assert.equal(call(one, 'y', two).refusal, null)
  assert.equal(call(other, 'x', two).refusal, null)
  const { allowed, limited } = steps.plane.metrics.limits.rule('ai:gateway')
  assert.deepEqual([allowed.value, limited.value], [4, 1])
  steps.clock.advance(62_000)
  assert.equal(call(one, 'x', two).refusal, null)
})

test('a request that is no AI call passes', t => {
  assert.equal(meterGateway(stepsOver(t, []).exchange(request('GET /'))), null)
})
