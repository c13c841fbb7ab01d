// How an origin is ejected and comes back, by requests and by active checks.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { type HealthSettings, MemberHealth } from '../../src/pools/health.ts'
import { ManualClock } from '../help/clock.ts'

const ejection = { failures: 3, base: 10_000, longest: 60_000 }

function start(settings: Partial<HealthSettings> = {}) {
  const clock = new ManualClock()
  let ejections = 0
  const health = new MemberHealth(
    { ejection, check: null, slowStart: 0, ...settings },
    clock,
    () => ejections++,
  )
  const fail = (times = 1) => {
    for (let i = 0; i < times; i++) health.failed({})
  }
  /** Lets one trial through and tells how it went. */
  const trial = (outcome: 'responded' | 'failed') => {
    const request = {}
    equal(health.share, 1)
    equal(health.begin(request), true)
    health[outcome](request)
  }
  return { clock, health, fail, trial, ejections: () => ejections }
}

const checkAt = (clock: ManualClock, isUp: boolean, next = 5_000) => ({
  isUp,
  since: clock.now(),
  nextCheckAt: clock.now() + next,
  lastCheckAt: clock.now(),
  lastDuration: 1,
  lastStatus: isUp ? 200 : 503,
  lastError: null,
})

test('consecutive failures eject it, and a success in between resets the count', () => {
  const { health, fail, ejections } = start()
  fail(2)
  health.responded({})
  health.succeeded()
  fail(2)
  deepEqual([health.state, health.share, health.failures], ['healthy', 1, 2])
  fail()
  deepEqual([health.state, health.share, ejections()], ['ejected', 0, 1])
})

test('a response that has only begun is not yet a success', () => {
  const { health, fail } = start()
  for (let i = 0; i < 3; i++) {
    health.responded({})
    fail()
  }
  equal(health.state, 'ejected')
})

test('without settings for it nobody is ejected', () => {
  const { health, fail } = start({ ejection: null })
  fail(100)
  deepEqual(
    [health.state, health.share, health.isServing, health.failures, health.ejectedUntil],
    ['failing', 1, true, 100, null],
  )
})

test('it is unchecked until something has told how it is, then healthy or failing', () => {
  const { clock, health, fail } = start({ ejection: null })
  const born = clock.now()
  const seen = () => [health.state, health.since, health.failures]
  deepEqual(seen(), ['unchecked', born, 0])
  health.released({})
  deepEqual(seen(), ['unchecked', born, 0])
  clock.advance(1_000)
  fail()
  deepEqual(seen(), ['failing', born + 1_000, 1])
  clock.advance(1_000)
  fail()
  deepEqual(seen(), ['failing', born + 1_000, 2])
  health.succeeded()
  deepEqual(seen(), ['healthy', born + 2_000, 0])
  clock.advance(1_000)
  health.failedUnblamed({})
  fail(3)
  deepEqual(seen(), ['healthy', born + 2_000, 4])
  health.failedUnblamed({})
  deepEqual(seen(), ['failing', born + 3_000, 5])
  clock.advance(1_000)
  health.succeeded()
  deepEqual(seen(), ['healthy', born + 4_000, 0])
})

test('failures that were long ago tell nothing any more', () => {
  const { clock, health, fail } = start({ ejection: null })
  health.succeeded()
  fail(5)
  clock.advance(200_000)
  fail()
  clock.advance(299_999)
  equal(health.state, 'failing')
  clock.advance(1)
  const forgotten = clock.now()
  clock.advance(1_000)
  deepEqual([health.state, health.since, health.failures], ['unchecked', forgotten, 6])
  fail()
  deepEqual([health.state, health.failures], ['failing', 7])
  clock.advance(300_000)
  health.applyCheck(checkAt(clock, true))
  equal(health.state, 'healthy')
})

test('a check tells that it is healthy once it got a response, and ends no failures', () => {
  const { clock, health, fail } = start({ ejection: null })
  health.applyCheck({ ...checkAt(clock, true), lastStatus: null, lastError: 'refused' })
  equal(health.state, 'unchecked')
  health.applyCheck(checkAt(clock, true))
  equal(health.state, 'healthy')
  fail(5)
  health.applyCheck(checkAt(clock, true))
  equal(health.state, 'failing')
  health.applyCheck(checkAt(clock, false))
  equal(health.state, 'down')
  health.applyCheck(checkAt(clock, true))
  deepEqual([health.state, health.failures], ['healthy', 0])
})

test('when its time is over one request at a time is the trial', () => {
  const { clock, health, fail } = start()
  fail(3)
  clock.advance(9_999)
  equal(health.share, 0)
  clock.advance(1)
  deepEqual([health.state, health.share], ['trial', 1])
  const trial = {}
  health.begin(trial)
  equal(health.share, 0)
  health.released({})
  health.responded({})
  equal(health.share, 0)
  health.responded(trial)
  deepEqual([health.state, health.share, health.failures], ['healthy', 1, 0])
})

test('a trial whose client left says nothing, and another follows', () => {
  const { clock, health, fail } = start()
  fail(3)
  clock.advance(10_000)
  const trial = {}
  health.begin(trial)
  health.released(trial)
  deepEqual([health.state, health.share], ['trial', 1])
})

test('a trial that takes long is replaced by another, and then says nothing any more', () => {
  const { clock, health, fail } = start()
  fail(3)
  clock.advance(10_000)
  const slow = {}
  health.begin(slow)
  clock.advance(9_999)
  equal(health.share, 0)
  clock.advance(1)
  equal(health.share, 1)
  const next = {}
  health.begin(next)
  health.failed(slow)
  deepEqual([health.state, health.share], ['trial', 0])
  health.responded(next)
  equal(health.state, 'healthy')
})

test('an ejection lasts twice as long each time a trial fails, up to the longest', () => {
  const { clock, health, fail, trial, ejections } = start()
  fail(3)
  for (const lasts of [10_000, 20_000, 40_000, 60_000, 60_000]) {
    equal(health.ejectedUntil, clock.now() + lasts)
    clock.advance(lasts - 1)
    equal(health.share, 0)
    clock.advance(1)
    trial('failed')
  }
  equal(ejections(), 6)
})

test('requests from before an ejection neither lengthen nor end it', () => {
  const { clock, health, fail } = start()
  fail(50)
  health.responded({})
  health.succeeded()
  equal(health.ejectedUntil, clock.now() + 10_000)
  clock.advance(10_000)
  fail()
  equal(health.state, 'trial')
})

test('back-off outlives a short recovery, and is forgotten after a long one', () => {
  const { clock, health, fail, trial } = start()
  fail(3)
  clock.advance(10_000)
  trial('responded')
  clock.advance(59_999)
  fail(3)
  equal(health.ejectedUntil, clock.now() + 20_000)
  clock.advance(20_000)
  trial('responded')
  clock.advance(60_000)
  fail(3)
  equal(health.ejectedUntil, clock.now() + 10_000)
})

test('a member that comes back takes up its share gradually', () => {
  const { clock, health, fail, trial } = start({ slowStart: 10_000 })
  equal(health.share, 1)
  fail(3)
  clock.advance(10_000)
  trial('responded')
  const shares = [0, 500, 2_000, 5_000, 2_499, 1].map(ms => {
    clock.advance(ms)
    return health.share
  })
  deepEqual(shares, [0.1, 0.1, 0.25, 0.75, 0.9999, 1])
})

test('checks take it out and bring it back, whatever its requests say', () => {
  const { clock, health } = start({ slowStart: 10_000 })
  health.applyCheck(checkAt(clock, true))
  deepEqual([health.state, health.share], ['healthy', 1])
  clock.advance(5_000)
  health.applyCheck(checkAt(clock, false))
  health.responded({})
  health.succeeded()
  deepEqual([health.state, health.share], ['down', 0])
  clock.advance(5_000)
  health.applyCheck(checkAt(clock, true))
  deepEqual([health.state, health.share], ['healthy', 0.1])
})

test('a good check ends no ejection: the trial does, and back-off grows meanwhile', () => {
  const { clock, health, fail, trial } = start({ slowStart: 0 })
  fail(3)
  for (const lasts of [10_000, 20_000]) {
    for (let passed = 0; passed < lasts; passed += 5_000) {
      health.applyCheck(checkAt(clock, true))
      deepEqual([health.state, health.share], ['ejected', 0])
      clock.advance(5_000)
    }
    health.applyCheck(checkAt(clock, true))
    equal(health.state, 'trial')
    trial('failed')
  }
  equal(health.ejectedUntil, clock.now() + 40_000)
})

test('a member that was ejected and down needs a good check and a trial', () => {
  const { clock, health, fail, trial } = start()
  fail(3)
  health.applyCheck(checkAt(clock, false))
  clock.advance(5_000)
  health.applyCheck(checkAt(clock, true))
  deepEqual([health.state, health.share], ['ejected', 0])
  clock.advance(5_000)
  trial('responded')
  deepEqual([health.state, health.share], ['healthy', 1])
})

test('a request that comes to it while another one is the trial is refused', () => {
  const { clock, health, fail } = start()
  const early = {}
  equal(health.begin(early), true)
  fail(3)
  equal(health.begin({}), false)
  clock.advance(10_000)
  equal(health.begin(early), true)
  equal(health.begin({}), false)
  health.responded(early)
  equal(health.begin({}), true)
})

test('the wait is for the next trial, or for the next check while it is down', () => {
  const { clock, health, fail } = start()
  fail(3)
  equal(health.msUntilHope, 10_000)
  health.applyCheck(checkAt(clock, true, 4_000))
  equal(health.msUntilHope, 10_000)
  health.applyCheck(checkAt(clock, false, 30_000))
  equal(health.msUntilHope, 30_000)
})

test('it says since when it is as it is, and how often it was ejected', () => {
  const { clock, health, fail, trial } = start()
  const born = clock.now()
  deepEqual([health.state, health.since, health.ejections], ['unchecked', born, 0])
  clock.advance(1_000)
  fail(3)
  deepEqual([health.state, health.since, health.ejections], ['ejected', born + 1_000, 1])
  clock.advance(12_000)
  deepEqual([health.state, health.since], ['trial', born + 11_000])
  trial('failed')
  deepEqual([health.state, health.since, health.ejections], ['ejected', born + 13_000, 2])
  clock.advance(20_000)
  trial('responded')
  deepEqual([health.state, health.since, health.ejections], ['healthy', born + 33_000, 2])
  clock.advance(1_000)
  health.applyCheck({ ...checkAt(clock, false), since: born + 7 })
  deepEqual([health.state, health.since], ['down', born + 7])
  health.applyCheck(checkAt(clock, true))
  deepEqual([health.state, health.since], ['healthy', born + 34_000])
})
