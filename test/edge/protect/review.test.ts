import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Admission, GateFault } from '../../../src/edge/gates/gate.ts'
import { review, takeBacklog } from '../../../src/edge/protect/review.ts'
import { HeaderChanges } from '../../../src/edge/rewrite/headers.ts'
import { type Staged, Steps } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

type Verdict = GateFault | null

const ended: GateFault = { kind: 'invalid', cause: { code: 'GH_X' }, wait: 0, challenge: 'Bearer' }
const unavailable: GateFault = { ...ended, kind: 'unavailable', wait: 5, challenge: null }

function stage(t: TestContext, check: () => Verdict | Promise<Verdict>) {
  const steps = new Steps(t, ['http://127.0.0.1:9'], {})
  const admission: Admission = {
    ...{ subject: null, claims: {}, changes: new HeaderChanges(new Set(), [], []), isCurrent: () => false },
    watch: { kind: 'sign_in', check },
  }
  const admit = () => Object.assign(steps.located(request('GET /')), { admission })
  return { steps, admit }
}

const settled = () => new Promise(setImmediate)
const statusOf = ({ seen }: Staged) => Number(/^HTTP\/1\.1 (\d+)/.exec(seen.written)?.[1] ?? 0)

test('queries wait for each other beyond 500, and the next sweep goes on', async t => {
  const verdicts: PromiseWithResolvers<Verdict>[] = []
  const { admit } = stage(t, () => {
    const verdict = Promise.withResolvers<Verdict>()
    verdicts.push(verdict)
    return verdict.promise
  })
  const open = Array.from({ length: 600 }, admit)
  for (let i = 0; i < 2; i++) open.forEach(review)
  assert.equal(verdicts.length, 500)
  assert.deepEqual([takeBacklog(), takeBacklog()], [true, false])
  for (const { resolve } of verdicts) resolve(ended)
  await settled()
  assert.equal(open.filter(x => statusOf(x) === 401).length, 500)
  assert.match(open[0]!.seen.written, /\r\nWWW-Authenticate: Bearer\r\n/)
  for (const x of open.slice(500)) review(x)
  assert.deepEqual([verdicts.length, takeBacklog()], [600, false])
  for (const { resolve } of verdicts) resolve(null)
  await settled()
  assert.equal(open.filter(x => statusOf(x) === 0).length, 100)
})

test('a check that fails ends the request, and is no query for ever', async t => {
  const { admit } = stage(t, () => Promise.reject(new Error('a bug')))
  const open = Array.from({ length: 501 }, admit)
  open.slice(0, 500).forEach(review)
  await settled()
  assert.equal(statusOf(open[0]!), 500)
  review(open[500]!)
  await settled()
  assert.equal(statusOf(open[500]!), 500)
})

test('a request that ends meanwhile is left alone', async t => {
  const verdict = Promise.withResolvers<Verdict>()
  const { admit } = stage(t, () => verdict.promise)
  const x = admit()
  review(x)
  x.stage = 'complete'
  verdict.resolve(ended)
  await settled()
  assert.deepEqual([x.seen.written, x.refusal], ['', null])
})

test('what cannot be checked goes on for 5 s, and anew after each check', t => {
  let verdict: Verdict = unavailable
  const { steps, admit } = stage(t, () => verdict)
  const x = admit()
  const pass = (ms: number) => {
    steps.clock.advance(ms)
    steps.plane.coarseNow = steps.clock.monotonic()
    review(x)
    return statusOf(x)
  }
  assert.deepEqual([pass(0), pass(4_999)], [0, 0])
  verdict = null
  assert.equal(pass(1), 0)
  verdict = unavailable
  assert.deepEqual([pass(60_000), pass(4_999), pass(1)], [0, 0, 503])
  assert.match(x.seen.written, /\r\nRetry-After: 5\r\n/i)
})
