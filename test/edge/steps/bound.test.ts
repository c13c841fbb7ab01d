import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bound } from '../../../src/edge/steps/bound.ts'
import type { Refusal } from '../../../src/errors/catalogue/refusal.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

test('a body that is announced over the limit is refused, one up to it is not', t => {
  const steps = stepsOver(t, ['http://127.0.0.1:1'], { route: { bodyLimit: 10 } })
  const errorAt = (...fields: string[]) => errorOf(bound(steps.located(request('POST /', ...fields))))
  assert.equal(errorAt('Content-Length: 10'), undefined)
  assert.equal(errorAt('Content-Length: 11'), 'content_too_large')
  assert.equal(errorAt('Transfer-Encoding: chunked'), undefined)
  const x = steps.located(request('POST /', 'Transfer-Encoding: chunked'))
  bound(x)
  assert.equal(x.bodyLimit, 10)
})

test('a request that passed this gateway before is refused, however its hops are written', t => {
  const steps = stepsOver(t, ['http://127.0.0.1:1'], { name: 'gate' })
  const errorAt = (...hops: string[]) =>
    errorOf(bound(steps.located(request('GET /', ...hops.map(hop => `CDN-Loop: ${hop}`)))))
  for (const hops of [
    ['gate'],
    ['other, Gate'],
    ['gate; a=1; b="x"'],
    ['a', 'b ,gate;c'],
    ['x'.repeat(4097)],
  ])
    assert.equal(errorAt(...hops), 'dns_loop', hops.join())
  for (const hops of [['gates'], ['other; a=gate'], ['x'.repeat(4096)]])
    assert.equal(errorAt(...hops), undefined, hops.join())
})

function errorOf(verdict: Refusal | 'responded' | null): string | undefined {
  return verdict === 'responded' ? verdict : verdict?.error
}
