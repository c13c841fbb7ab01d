import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  afterFailure,
  delayOf,
  type FailedAttempt,
  maxDelay,
} from '../../../src/ai/failover/after-failure.ts'

const failed: FailedAttempt = {
  attempts: 1,
  maxAttempts: 3,
  retries: 1,
  hasNext: true,
  duration: 10,
  retryWithin: 0,
  timeLeft: 60_000,
  wait: null,
  delay: 100,
}

const cases: readonly [
  title: string,
  change: Partial<FailedAttempt>,
  next: ReturnType<typeof afterFailure>,
][] = [
  ['the same model is tried again first', {}, { type: 'retry', delay: 100 }],
  ['then the next one', { retries: 0 }, { type: 'next' }],
  ['without another model the failure is final', { retries: 0, hasNext: false }, { type: 'stop' }],
  ['no call makes more attempts than it may', { attempts: 3 }, { type: 'stop' }],
  ['a call that is out of time makes no other attempt', { timeLeft: 0 }, { type: 'stop' }],
  ['a short wait of the provider is respected', { wait: 3000 }, { type: 'retry', delay: 3000 }],
  ['the longest one that a call takes, too', { wait: maxDelay }, { type: 'retry', delay: maxDelay }],
  ['one that is a little longer leads to the next model', { wait: maxDelay + 1 }, { type: 'next' }],
  ['no wait makes the delay shorter', { wait: 50 }, { type: 'retry', delay: 100 }],
  ['a long one leads to the next model', { wait: 30_000 }, { type: 'next' }],
  ['and is final without one', { wait: 30_000, hasNext: false }, { type: 'stop' }],
  ['a delay beyond the deadline leads to the next model', { delay: 2000, timeLeft: 1000 }, { type: 'next' }],
  ['a delay until the deadline, too', { delay: 1000, timeLeft: 1000 }, { type: 'next' }],
  ['one before it does not', { delay: 999, timeLeft: 1000 }, { type: 'retry', delay: 999 }],
  ['a call that has any time left makes one', { retries: 0, timeLeft: 1 }, { type: 'next' }],
  [
    'a slow failure is final if only fast ones are retried',
    { duration: 501, retryWithin: 500 },
    { type: 'stop' },
  ],
  ['a fast one is not', { duration: 500, retryWithin: 500 }, { type: 'retry', delay: 100 }],
]

describe('after a failed attempt', () => {
  for (const [title, change, next] of cases)
    test(title, () => deepEqual(afterFailure({ ...failed, ...change }), next))

  test('a call ends after no more attempts than it may make, whatever happens', () => {
    const any = fc.record({
      retries: fc.nat(9),
      hasNext: fc.boolean(),
      duration: fc.nat(10_000),
      retryWithin: fc.nat(10_000),
      timeLeft: fc.integer({ min: -1000, max: 10_000 }),
      wait: fc.option(fc.nat(100_000)),
      delay: fc.nat(maxDelay),
    })
    fc.assert(
      fc.property(
        fc.array(any, { minLength: 20, maxLength: 20 }),
        fc.integer({ min: 1, max: 5 }),
        (rows, maxAttempts) => {
          let attempts = 1
          for (const row of rows) {
            const next = afterFailure({ ...row, attempts, maxAttempts })
            if (next.type === 'stop') break
            if (next.type === 'retry')
              ok(next.delay <= maxDelay && next.delay < row.timeLeft && row.retries > 0)
            else ok(row.hasNext)
            attempts++
          }
          ok(attempts <= maxAttempts)
        },
      ),
    )
  })
})

test('the delay grows as the backoff says, up to a maximum', () => {
  deepEqual(
    [1, 2, 3].map(retry => delayOf(retry, 100, 'constant')),
    [100, 100, 100],
  )
  deepEqual(
    [1, 2, 3].map(retry => delayOf(retry, 100, 'linear')),
    [100, 200, 300],
  )
  deepEqual(
    [1, 2, 3].map(retry => delayOf(retry, 100, 'exponential')),
    [100, 200, 400],
  )
  equal(delayOf(5, 4000, 'exponential'), maxDelay)
})
