import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Phase } from '../../../src/errors/catalogue/phase.ts'
import type { PoolConfig } from '../../../src/config/model/config.ts'
import { failureOf, fault, type OriginFault } from '../../../src/errors/catalogue/origin-failure.ts'
import type { EdgeMember } from '../../../src/edge/origin/pools.ts'
import {
  pickAnotherMember,
  isFaultOfMember,
  noteStatus,
  beginAtMember,
} from '../../../src/edge/forward/retries.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

const get = request('GET /')
const ejection = { failures: 1, base: 10_000, longest: 60_000 }

/** Makes a pool of so many origins, and exchanges for its members in turn. */
function poolOf(t: TestContext, count: number, pool: Partial<PoolConfig> = {}) {
  const urls = Array.from({ length: count }, (_, i) => `http://127.0.0.1:${i + 1}`)
  const steps = stepsOver(t, urls, { pool: { ejection, ...pool } })
  const { members } = steps.plane.snapshot.pools.named[0]!
  return { steps, members, next: () => steps.located(get) }
}

test('attempts go to members that were not tried, as often as the pool allows', t => {
  for (const most of [0, 1, 2, 5]) {
    const { members, next } = poolOf(t, 4, { retries: { most, budget: 1 } })
    const x = next()
    const tried: EdgeMember[] = []
    let attempts = 1
    for (let another = pickAnotherMember(x, tried); another !== null; another = pickAnotherMember(x, tried)) {
      assert.ok(!tried.includes(another))
      x.member = another
      attempts++
    }
    assert.equal(attempts, Math.min(most, 3) + 1)
    assert.equal(new Set(tried).size, Math.min(attempts, members.length))
  }
})

test('retries beyond the budget of the pool are counted, and not made', t => {
  const { steps, next } = poolOf(t, 2, { retries: { most: 1, budget: 0.5 } })
  const outcomes = Array.from({ length: 30 }, () => pickAnotherMember(next(), []) !== null)
  // Ten are free, and each two requests earn one.
  assert.deepEqual(outcomes, [...Array(20).fill(true), ...outcomes.slice(20)])
  assert.ok(outcomes.slice(20).includes(false))
  assert.equal(steps.plane.metrics.retryBudgetExhausted.value, outcomes.filter(isMade => !isMade).length)
  const { next: without } = poolOf(t, 2, { retries: { most: 1, budget: 0 } })
  assert.equal(pickAnotherMember(without(), []), null)
})

test('another attempt at a member that was ejected is its trial', t => {
  const { steps, members, next } = poolOf(t, 2, { retries: { most: 1, budget: 1 } })
  const [first, second] = members as [EdgeMember, EdgeMember]
  second.health.failed(next())
  steps.clock.advance(10_000)
  assert.equal(second.health.state, 'trial')
  const x = next()
  x.member = first
  assert.equal(pickAnotherMember(x, []), second)
  assert.equal(second.health.begin(next()), false, 'nobody else is tried meanwhile')
  second.health.responded(x)
  assert.equal(second.health.state, 'healthy')
})

test("an attempt at a member that is another's trial goes to another member, if there is one", t => {
  for (const [count, elsewhere] of [
    [2, true],
    [1, false],
  ] as const) {
    const { steps, members, next } = poolOf(t, count)
    const [first] = members as [EdgeMember]
    const x = next()
    x.member = first
    beginAtMember(x)
    assert.equal(x.member, first)
    if (!elsewhere) continue
    first.health.failed(x)
    steps.clock.advance(10_000)
    const [trial, late] = [next(), next()]
    trial.member = late.member = first
    beginAtMember(trial)
    beginAtMember(late)
    assert.equal(trial.member, first)
    assert.equal(late.member, members[1])
  }
})

const phases: readonly Phase[] = ['resolve', 'connect', 'handshake', 'send', 'wait', 'receive']
const isBefore = (phase: Phase) => !['send', 'wait', 'receive'].includes(phase)
// What an origin does before it has the request is its own doing, what it does then may be that of the request.
const own = (phase: Phase, hasAnother: boolean) => isBefore(phase) || hasAnother
/** To look a name up takes no connection, so that these are not foreseen there, and nobody's fault. */
const ownOnceNamed = (phase: Phase, hasAnother: boolean) => phase !== 'resolve' && own(phase, hasAnother)
const failures: Readonly<Record<string, (phase: Phase, hasAnother: boolean) => boolean>> = {
  ECONNREFUSED: ownOnceNamed,
  ENOTFOUND: own,
  GH_QUEUE_FULL: () => false,
  GH_QUEUE_TIMEOUT: () => false,
  GH_PROHIBITED_ADDRESS: () => false,
  GH_OWN_ADDRESS: () => false,
  GH_TOTAL_TIMEOUT: () => false,
  GH_CALL_TIMEOUT: () => false,
  GH_IDLE_TIMEOUT: () => false,
  GH_CLOSED: ownOnceNamed,
}
const failure = (code: string) => (code.startsWith('GH_') ? fault(code as OriginFault) : failureOf({ code }))

for (const [code, isFault] of Object.entries(failures))
  test(`${code} is held against a member as far as it is to blame`, t => {
    for (const count of [1, 2]) {
      const { next } = poolOf(t, count)
      for (const phase of phases)
        assert.equal(
          isFaultOfMember(next(), phase, failure(code), false),
          isFault(phase, count > 1),
          `${phase} of ${count}`,
        )
    }
  })

test('a lack of local resources is held against no member', t => {
  const { next } = poolOf(t, 2)
  for (const code of ['EMFILE', 'ENFILE', 'EADDRINUSE'])
    assert.equal(isFaultOfMember(next(), 'connect', failure(code), false), false, code)
})

test('a faulty response counts against a member, but not against the last healthy one', t => {
  const { steps, members, next } = poolOf(t, 2)
  const [first, second] = members as [EdgeMember, EdgeMember]
  const blame = (member: EdgeMember, isBlamed: boolean) => {
    const x = next()
    x.member = member
    member.health.begin(x)
    noteStatus(x, isBlamed)
  }
  blame(first, false)
  assert.equal(first.health.state, 'unchecked')
  blame(first, true)
  assert.equal(first.health.state, 'ejected')
  blame(second, true)
  assert.deepEqual([second.health.state, second.health.failures, second.health.share], ['failing', 1, 1])
  steps.clock.advance(10_000)
  blame(first, false)
  assert.equal(first.health.state, 'healthy', 'an answer without blame ends the trial')
})

test('a trial with a bad response where no other member is healthy makes room for another', t => {
  const { steps, members, next } = poolOf(t, 2)
  const [first, second] = members as [EdgeMember, EdgeMember]
  for (const member of [first, second]) member.health.failed(next())
  steps.clock.advance(10_000)
  for (let i = 0; i < 2; i++) {
    const x = next()
    x.member = first
    assert.ok(first.health.begin(x))
    noteStatus(x, true)
  }
})
