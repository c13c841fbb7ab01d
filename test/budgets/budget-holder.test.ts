import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { BudgetHolder } from '../../src/budgets/budget-holder.ts'
import type { BudgetRefusal, LimitedBucket } from '../../src/budgets/charge.ts'
import type { Reservation } from '../../src/budgets/reservation.ts'
import {
  type BucketAccount,
  emptyAccount,
  readAccount,
  takeStep,
} from '../../src/store/budget-ledger/ledger.ts'
import type { Budgets } from '../../src/store/contract/budgets.ts'
import type { BudgetLine, BudgetStep } from '../../src/store/records/budget.ts'
import { BudgetMetrics } from '../../src/metrics/counters/budget-metrics.ts'
import { ManualClock } from '../help/clock.ts'

const day = { kind: 'fixed', until: Date.UTC(2026, 0, 2) } as const

/** A holder, and a store that counts as the ledger does and may be unreachable, before it takes a step or after. */
class Place {
  readonly clock = new ManualClock()
  readonly steps: BudgetStep[] = []
  readonly warnings: unknown[] = []
  fails: 'before' | 'after' | null = null
  /** Steps wait for it. */
  gate: Promise<void> = Promise.resolve()
  /** An account whose steps have no outcome. */
  stuck: string | null = null
  /** Told of each step before it is taken. */
  onStep: (() => void) | null = null
  readonly #accounts = new Map<string, BucketAccount>()
  readonly holder = this.another()

  another(
    metrics = new BudgetMetrics(),
    more: { readonly lookPeriod?: null } = { lookPeriod: null },
  ): BudgetHolder {
    const log = { warn: (...line: unknown[]) => void this.warnings.push(line), info: () => {} }
    return new BudgetHolder({ budgets: this.#budgets(), clock: this.clock, log, metrics, ...more })
  }

  sum(bucket = 'b'): { spent: number; leased: number } {
    return readAccount(this.#accountOf(bucket), day, this.clock.now())
  }

  /** The share of a bucket in the first step that was about it, or the last (-1). */
  shareOf(bucket: string, at: 0 | -1): string | undefined {
    return this.steps
      .flatMap(({ lines }) => lines)
      .filter(line => line.bucket === bucket)
      .at(at)?.share
  }

  #budgets(): Pick<Budgets, 'step' | 'read'> {
    return {
      read: async (_, buckets) => {
        if (this.fails !== null) throw new Error('unreachable')
        return buckets.map(({ bucket, window }) => ({
          bucket,
          ...readAccount(structuredClone(this.#accountOf(bucket)), window, this.clock.now()),
        }))
      },
      step: async step => {
        this.steps.push(step)
        this.onStep?.()
        if (step.account === this.stuck) await new Promise(() => {})
        await this.gate
        if (this.fails === 'before') throw new Error('unreachable')
        const reply = takeStep(
          step.lines.map(({ bucket }) => this.#accountOf(bucket)),
          structuredClone(step),
          this.clock.now(),
        )
        if (this.fails === 'after') throw new Error('timed out')
        return reply
      },
    }
  }

  #accountOf(bucket: string): BucketAccount {
    const account = this.#accounts.get(bucket) ?? emptyAccount()
    this.#accounts.set(bucket, account)
    return account
  }
}

interface Charge extends LimitedBucket {
  readonly amount: number
}

function charge(amount: number, more: Partial<Charge> = {}): Charge {
  return { bucket: 'b', window: day, limit: 1_000, amount, whenUnreachable: 'closed', ...more }
}

function reserve(holder: BudgetHolder, charges: readonly Charge[], account = 'account') {
  return holder.reserve(
    account,
    charges,
    charges.map(({ amount }) => amount),
  )
}

async function admitted(holder: BudgetHolder, ...charges: Charge[]): Promise<Reservation> {
  const verdict = await reserve(holder, charges)
  return 'buckets' in verdict ? verdict : assert.fail(JSON.stringify(verdict))
}

async function refused(holder: BudgetHolder, ...charges: Charge[]): Promise<BudgetRefusal> {
  const verdict = await reserve(holder, charges)
  return 'buckets' in verdict ? assert.fail('it was admitted') : verdict
}

test('far from a limit, calls are admitted at once, and a look reports what they spent', async () => {
  const place = new Place()
  const first = await admitted(place.holder, charge(5))
  for (let i = 0; i < 8; i++) {
    const next = reserve(place.holder, [charge(5)])
    assert.ok('buckets' in next)
    next.settle([3])
  }
  first.settle([5])
  assert.equal(place.steps.length, 1)
  await place.holder.look()
  assert.equal(place.steps.length, 2)
  assert.equal(place.sum().spent, 5 + 8 * 3)
})

test('of the budgets of a call all are reserved, or none', async () => {
  const place = new Place()
  const small = { bucket: 'c', limit: 10 }
  await admitted(place.another(), charge(8, small))
  const { reason, charge: which, spent } = await refused(place.holder, charge(5), charge(5, small))
  assert.deepEqual([reason, which, spent], ['over', 1, 8])
  assert.deepEqual([place.sum('b').leased, place.sum('c').leased], [0, 8])
})

test('a call that never fits is refused without a step, and as such whatever else refuses it', async () => {
  const place = new Place()
  ;(await admitted(place.holder, charge(600))).settle([600])
  await place.holder.look()
  await refused(place.holder, charge(500))
  const steps = place.steps.length
  const never = charge(11, { bucket: 'c', limit: 10 })
  const both = await refused(place.holder, charge(500), never)
  assert.deepEqual([both.reason, both.charge, both.spent], ['never', 1, 0])
  const own = await refused(place.holder, charge(1_001))
  assert.deepEqual([own.reason, own.spent], ['never', 600])
  assert.equal(place.steps.length, steps)
  place.fails = 'before'
  assert.equal((await refused(place.holder, charge(300))).reason, 'store_unreachable')
  assert.equal((await refused(place.holder, never)).reason, 'never')
})

test('of a call that never fits, the store hears nothing at all', async () => {
  const place = new Place()
  await refused(place.holder, charge(11, { limit: 10 }))
  for (let second = 0; second < 5; second++) {
    await place.holder.look()
    place.clock.advance(1_000)
  }
  assert.deepEqual(place.steps, [])
})

test('calls that come during a step share the next one, and where they do not fit together some do', async () => {
  const place = new Place()
  const { promise, resolve } = Promise.withResolvers<void>()
  place.gate = promise
  const calls = [400, 500, 300, 100].map(amount => reserve(place.holder, [charge(amount)]))
  assert.equal(place.steps.length, 1)
  resolve()
  const verdicts = await Promise.all(calls)
  assert.deepEqual(
    verdicts.map(verdict => ('buckets' in verdict ? verdict.reserved[0] : verdict.reason)),
    [400, 500, 'over', 100],
  )
  assert.deepEqual(place.sum(), { spent: 0, leased: 1_000 })
})

test('a crowd near a limit takes few steps, however many of it fit', async () => {
  const place = new Place()
  const { promise, resolve } = Promise.withResolvers<void>()
  place.gate = promise
  const calls = Array.from({ length: 200 }, (_, i) =>
    reserve(place.holder, [charge(i % 2 === 0 ? 10 : 20), charge(1, { bucket: 'd', limit: 500 })]),
  )
  resolve()
  const verdicts = await Promise.all(calls)
  const reserved = verdicts.filter(verdict => 'buckets' in verdict).map(({ reserved }) => reserved[0]!)
  assert.equal(
    reserved.reduce((sum, one) => sum + one),
    1_000,
  )
  assert.deepEqual(place.sum(), { spent: 0, leased: 1_000 })
  assert.ok(place.steps.length <= 7, `${place.steps.length} steps`)
})

test('a refusal is repeated without a step for half a second, and for no smaller call', async () => {
  const place = new Place()
  const held = await admitted(place.holder, charge(900))
  await refused(place.holder, charge(200))
  const steps = place.steps.length
  for (let i = 0; i < 100; i++) assert.equal((await refused(place.holder, charge(200 + i))).reason, 'over')
  assert.ok('reason' in reserve(place.holder, [charge(200)]), 'it does not even wait')
  assert.equal(place.steps.length, steps)
  await admitted(place.holder, charge(100))
  held.settle([0])
  place.clock.advance(500)
  await admitted(place.holder, charge(200))
})

test('a refusal that is repeated says of a larger call what is true of it', async () => {
  const sliding = { kind: 'sliding', period: 60_000 } as const
  for (const window of [day, sliding]) {
    const place = new Place()
    const { holder, clock } = place
    for (const spent of [400, 500]) {
      ;(await admitted(holder, charge(spent, { window }))).settle([spent])
      await holder.look()
      clock.advance(6_000)
    }
    const small = await refused(holder, charge(200, { window }))
    const steps = place.steps.length
    const large = await refused(holder, charge(700, { window }))
    assert.equal(place.steps.length, steps)
    assert.equal((await refused(holder, charge(1_001, { window }))).reason, 'never')
    assert.deepEqual([small.reason, large.reason], ['over', 'over'])
    if (window === day) assert.equal(large.wait, small.wait)
    else assert.ok(large.wait > small.wait + 5_000, `${small.wait} ${large.wait}`)
  }
})

test('a larger call than one that only waits for leases is told when what is spent lets it fit', async () => {
  const place = new Place()
  ;(await admitted(place.holder, charge(600))).settle([600])
  const held = await admitted(place.holder, charge(300))
  const small = await refused(place.holder, charge(200))
  const steps = place.steps.length
  assert.equal((await refused(place.holder, charge(400))).wait, small.wait)
  assert.equal(place.steps.length, steps)
  const large = await refused(place.holder, charge(401))
  assert.equal(place.steps.length, steps)
  assert.ok(small.wait <= 1_000 && large.wait > 1_000, `${small.wait} ${large.wait}`)
  held.settle([0])
})

const held = { limit: 2, bucket: 'calls', window: { kind: 'none' } } as const

test('while calls under way are in the way, the wait is what they take by experience', async () => {
  const { holder, clock } = new Place()
  const call = charge(1, held)
  const wait = async () => {
    clock.advance(600)
    const { wait, isEstimate } = await refused(holder, call)
    assert.equal(isEstimate, true)
    return wait / 1000
  }
  const second = async () => {
    clock.advance(1_000)
    await holder.look()
  }
  const near = (value: number, expected: number) =>
    assert.ok(Math.abs(value - expected) <= expected / 4, `${value} s, not about ${expected} s`)
  let running = [await admitted(holder, call), await admitted(holder, call)]
  assert.equal(await wait(), 1)
  for (let i = 0; i < 19; i++) await second()
  // As much is to be expected of them as has passed.
  near(await wait(), 20)
  // Then each takes 20 s, and two of them are under way.
  for (let i = 0; i < 6; i++) {
    for (const one of running) one.settle([0])
    running = [await admitted(holder, call), await admitted(holder, call)]
    for (let i = 0; i < 20; i++) await second()
  }
  near(await wait(), 10)
  // They get quicker.
  for (let i = 0; i < 60; i++) {
    for (const one of running) one.settle([0])
    running = [await admitted(holder, call), await admitted(holder, call)]
    for (let i = 0; i < 4; i++) await second()
  }
  near(await wait(), 2)
  for (let i = 0; i < 600; i++) await second()
  assert.ok((await wait()) > 40)
})

test('of another process nothing is known but that it returns what it does not use', async () => {
  const place = new Place()
  const other = await admitted(place.holder, charge(1_000))
  const { wait } = await refused(place.another(), charge(10))
  assert.equal(wait, 3_000)
  other.settle([0])
})

test('no wait is longer than the window', async () => {
  const place = new Place()
  const window = { kind: 'fixed', until: place.clock.now() + 40_000 } as const
  const call = await admitted(place.holder, charge(1_000, { window }))
  for (let i = 0; i < 30; i++) {
    place.clock.advance(1_000)
    await place.holder.look()
  }
  const { wait, isEstimate } = await refused(place.holder, charge(10, { window }))
  assert.deepEqual([wait, isEstimate], [10_000, false])
  call.settle([0])
})

test('what would become of a call is foretold, and nothing is reserved for that', async () => {
  const place = new Place()
  const { holder } = place
  const foretold = (...charges: Charge[]) => {
    const amounts = charges.map(({ amount }) => amount)
    return holder.foretell('account', charges, amounts)
  }
  assert.equal(await foretold(charge(1_000)), null)
  const never = async () => {
    const refusal = await foretold(charge(1_001))
    return [refusal?.reason, refusal?.spent]
  }
  assert.deepEqual(await never(), ['never', 0])
  const call = await admitted(holder, charge(600))
  assert.deepEqual(await never(), ['never', place.sum().leased])
  const other = await admitted(place.another(), charge(300))
  const steps = place.steps.length
  const over = await foretold(charge(10, { bucket: 'c' }), charge(101))
  assert.deepEqual([over?.reason, over?.charge], ['over', 1])
  // What the other process has ready is not free, and its own is.
  assert.ok(over!.spent >= 900 && over!.spent < 910, `${over!.spent}`)
  assert.equal(over!.wait, day.until - place.clock.now())
  assert.equal(await foretold(charge(90)), null)
  assert.equal((await place.another().foretell('account', [charge(200)], [200]))?.reason, 'over')
  const ofNothing = charge(0, { limit: 5 })
  assert.equal(await place.another().foretell('account', [ofNothing], [0]), null)
  const held = { limit: 1, bucket: 'calls', window: { kind: 'none' } } as const
  const running = await admitted(holder, charge(1, held))
  const { wait, isEstimate } = (await foretold(charge(1, held)))!
  assert.deepEqual([wait, isEstimate], [1_000, true])
  assert.equal(place.steps.length, steps + 1)
  place.fails = 'before'
  assert.equal((await foretold(charge(100)))?.reason, 'store_unreachable')
  assert.equal(await foretold(charge(5)), null, 'what is lent already needs no store')
  assert.equal((await foretold(charge(5), charge(5, { bucket: 'c' })))?.reason, 'store_unreachable')
  assert.equal(await foretold(charge(100, { whenUnreachable: 'open' })), null)
  for (const one of [call, other, running]) one.settle([0])
})

test('a limit that is raised during a step leaves no wait without a number', async () => {
  for (const raised of [3, 9]) {
    const place = new Place()
    const call = await admitted(place.holder, charge(2, { ...held }))
    const { promise, resolve } = Promise.withResolvers<void>()
    place.gate = promise
    const late = refused(place.holder, charge(1, { ...held }))
    const next = reserve(place.holder, [charge(1, { ...held, limit: raised })])
    resolve()
    assert.equal((await late).wait, 1_000)
    assert.ok('buckets' in (await next))
    call.settle([0])
  }
})

test('a raised limit counts at once', async () => {
  const place = new Place()
  await admitted(place.holder, charge(1_000))
  await refused(place.holder, charge(1))
  await admitted(place.holder, charge(1, { limit: 1_001 }))
  await refused(place.another(), charge(1, { limit: 1_001 }))
})

test('while the store is unreachable, rules that are closed refuse and open ones count', async () => {
  const place = new Place()
  place.fails = 'before'
  const open = charge(5, { whenUnreachable: 'open' })
  const { reason, charge: which, wait } = await refused(place.holder, open, charge(1, { bucket: 'c' }))
  assert.deepEqual([reason, which], ['store_unreachable', 1])
  assert.ok(wait > 0 && wait < Number.POSITIVE_INFINITY)
  const unbacked = await admitted(place.holder, open)
  unbacked.settle([4])
  assert.equal(place.warnings.length, 1)
  place.fails = null
  place.clock.advance(500)
  await place.holder.look()
  assert.equal(place.sum().spent, 4)
})

test('a holder that closes while the store is unreachable tells whose spending is lost', async () => {
  const place = new Place()
  ;(await admitted(place.holder, charge(5))).settle([5])
  await place.holder.close()
  assert.deepEqual(place.warnings, [])
  const other = place.another()
  place.fails = 'before'
  ;(await admitted(other, charge(5, { whenUnreachable: 'open' }))).settle([4])
  await other.close()
  const lost = [{ accounts: ['account'] }, 'spending of budgets lost: store unreachable until the end']
  assert.deepEqual(place.warnings.at(-1), lost)
  assert.equal(place.warnings.length, 2)
})

test('what a step has done whose reply was lost is undone by the next one', async () => {
  const place = new Place()
  place.fails = 'after'
  assert.equal((await refused(place.holder, charge(600))).reason, 'store_unreachable')
  assert.ok(place.sum().leased >= 600)
  place.fails = null
  await place.holder.look()
  await admitted(place.holder, charge(900))
})

test('while steps fail, calls wait for none of them, and a look finds out that the store is back', async () => {
  const place = new Place()
  place.fails = 'before'
  const open = charge(5, { whenUnreachable: 'open' })
  await admitted(place.holder, open)
  for (let second = 0; second < 10; second++) {
    place.clock.advance(1_000)
    assert.ok('buckets' in reserve(place.holder, [open]))
    const refusal = reserve(place.holder, [charge(1)])
    assert.equal('reason' in refusal && refusal.reason, 'store_unreachable')
    await place.holder.look()
  }
  assert.equal(place.steps.length, 11)
  assert.equal(place.warnings.length, 1)
  place.fails = null
  await place.holder.look()
  await admitted(place.holder, charge(1))
})

test('after an outage of hours, what was spent is counted once, heard of or not', async () => {
  const place = new Place()
  const [first, last] = [await admitted(place.holder, charge(40)), await admitted(place.holder, charge(30))]
  first.settle([40])
  // The store takes it, and its lease expires there.
  place.fails = 'after'
  await place.holder.look()
  place.fails = 'before'
  for (let minute = 0; minute < 20 * 60; minute++) {
    place.clock.advance(60_000)
    await place.holder.look()
  }
  assert.ok(place.sum().spent >= 70 && place.sum().leased === 0)
  last.settle([5])
  place.fails = null
  await place.holder.look()
  assert.deepEqual(place.sum(), { spent: 45, leased: 0 })
})

test('a share is given up once the store has confirmed that nothing of it is unknown', async () => {
  const place = new Place()
  const call = await admitted(place.holder, charge(1_000))
  call.settle([600])
  for (let second = 0; second < 40; second++) {
    place.clock.advance(1_000)
    await place.holder.look()
  }
  const [{ total, confirmed }] = place.steps.at(-1)!.lines as [BudgetLine]
  assert.deepEqual([total, confirmed], [600, 600])
  const steps = place.steps.length
  await place.holder.look()
  assert.equal(place.steps.length, steps)
})

test('a step without an outcome keeps calls waiting for a second, those of its account alone', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const place = new Place()
  place.stuck = 'account'
  const open = charge(5, { whenUnreachable: 'open' })
  const verdicts = [charge(5), open, open].map(charge => reserve(place.holder, [charge]))
  let over = 0
  for (const verdict of verdicts) void Promise.resolve(verdict).then(() => over++)
  await passing(t, 995)
  assert.equal(over, 0)
  assert.ok('buckets' in (await reserve(place.holder, [charge(5)], 'another')))
  await passing(t, 5)
  assert.equal(over, 3)
  assert.ok('buckets' in reserve(place.holder, [open]))
  // It says again what is leased to another account, although nothing comes of this one.
  place.clock.advance(5_000)
  void place.holder.look()
  await passing(t, 5)
  assert.deepEqual(
    place.steps.map(({ account }) => account),
    ['account', 'another', 'account', 'another'],
  )
})

/** Lets mocked timers pass, which lead to others. */
async function passing(t: TestContext, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5) {
    t.mock.timers.tick(5)
    await new Promise(setImmediate)
  }
}

test('a share is drawn from for no longer than ten seconds after it was confirmed', async () => {
  const place = new Place()
  await admitted(place.holder, charge(5))
  place.clock.advance(10_000)
  assert.ok('buckets' in reserve(place.holder, [charge(1)]))
  place.clock.advance(1)
  assert.ok(reserve(place.holder, [charge(1)]) instanceof Promise)
})

test('what a process had reserved beyond the limit, as it had stopped, goes to no other call', async () => {
  const place = new Place()
  const calls = [await admitted(place.holder, charge(500)), await admitted(place.holder, charge(400))]
  for (const call of calls) call.checkpoint([100])
  await place.holder.look()
  place.clock.advance(20_000)
  await admitted(place.another(), charge(700))
  await place.holder.look()
  assert.ok(place.sum().leased >= 1_600)
  calls[0]!.settle([0])
  assert.equal((await refused(place.holder, charge(5))).reason, 'over')
})

test('nothing is drawn from a share under a limit that was lowered below what is used', async () => {
  const place = new Place()
  await admitted(place.holder, charge(10))
  assert.ok('buckets' in reserve(place.holder, [charge(10)]))
  assert.equal((await refused(place.holder, charge(10, { limit: 15 }))).reason, 'over')
})

test('all that is leased may be drawn at once, and no more', async () => {
  const place = new Place()
  await admitted(place.holder, charge(5))
  const free = place.sum().leased - 5
  assert.ok('buckets' in reserve(place.holder, [charge(free)]))
  assert.ok(reserve(place.holder, [charge(1)]) instanceof Promise)
})

test('what is not drawn from is returned after two seconds, and a lease renewed after four', async () => {
  const place = new Place()
  await admitted(place.holder, charge(100))
  const stepsAfter = async (ms: number) => {
    const before = place.steps.length
    place.clock.advance(ms)
    await place.holder.look()
    return place.steps.length - before
  }
  assert.ok(place.sum().leased > 100)
  assert.deepEqual([await stepsAfter(2_000), await stepsAfter(1)], [0, 1])
  assert.equal(place.sum().leased, 100)
  assert.deepEqual([await stepsAfter(4_000), await stepsAfter(1)], [0, 1])
})

test('a budget keeps its share for thirty seconds without a call', async () => {
  for (const [beyond, isKept] of [
    [0, true],
    [1, false],
  ] as const) {
    const place = new Place()
    ;(await admitted(place.holder, charge(5))).settle([5])
    for (let second = 0; second < 29; second++) {
      place.clock.advance(1_000)
      await place.holder.look()
    }
    place.clock.advance(1_000 + beyond)
    await place.holder.look()
    await admitted(place.holder, charge(5))
    assert.equal(place.shareOf('b', -1) === place.shareOf('b', 0), isKept)
  }
})

test('leases of calls under way are renewed, and idle shares returned', async () => {
  const place = new Place()
  await admitted(place.holder, charge(100))
  assert.ok(place.sum().leased > 100)
  for (let second = 0; second < 60; second++) {
    place.clock.advance(1_000)
    await place.holder.look()
  }
  assert.deepEqual(place.sum(), { spent: 0, leased: 100 })
})

test('a checkpoint is what an expired lease is charged, and the end of the call corrects it', async () => {
  const place = new Place()
  const call = await admitted(place.holder, charge(800))
  call.checkpoint([300])
  place.clock.advance(3_000)
  await place.holder.look()
  assert.deepEqual(place.sum(), { spent: 0, leased: 800 })
  place.clock.advance(15_000)
  assert.deepEqual(place.sum(), { spent: 300, leased: 0 })
  call.settle([700])
  await place.holder.look()
  assert.deepEqual(place.sum(), { spent: 700, leased: 0 })
})

test('a call reserves more while it lasts, as far as that fits', async () => {
  const place = new Place()
  const call = await admitted(place.holder, charge(600))
  assert.equal(await call.extend([400]), null)
  assert.deepEqual(call.reserved, [1_000])
  assert.equal((await call.extend([1]))?.reason, 'over')
  assert.deepEqual(call.reserved, [1_000])
})

test('a call reserves more at once where enough is lent', async () => {
  const { holder, steps } = new Place()
  const call = await admitted(holder, charge(5))
  assert.equal(call.extend([5]), null)
  assert.deepEqual([call.reserved, steps.length], [[10], 1])
})

test('a call that ends while it asks for more keeps none of it', async () => {
  const place = new Place()
  const call = await admitted(place.holder, charge(100))
  const more = call.extend([700])
  call.settle([100])
  assert.equal(await more, null)
  await place.holder.close()
  assert.deepEqual(place.sum(), { spent: 100, leased: 0 })
})

test('a call is settled once, and for more than it reserved where it spent more', async () => {
  const place = new Place()
  const call = await admitted(place.holder, charge(100))
  call.settle([1_200])
  call.settle([1])
  call.settleWhole()
  await place.holder.look()
  assert.equal(place.sum().spent, 1_200)
  assert.equal((await refused(place.another(), charge(1))).reason, 'over')
})

test('closing reports what was spent and returns what is free', async () => {
  const place = new Place()
  const [one, other] = [await admitted(place.holder, charge(10)), await admitted(place.holder, charge(20))]
  one.settle([7])
  await place.holder.close()
  assert.deepEqual(place.sum(), { spent: 7, leased: 20 })
  other.settleWhole()
  await place.holder.close()
  assert.deepEqual(place.sum(), { spent: 27, leased: 0 })
})

test('closing waits for a step that is under way, and reports what it could not say', async () => {
  const place = new Place()
  const first = await admitted(place.holder, charge(10))
  const { promise, resolve } = Promise.withResolvers<void>()
  place.gate = promise
  const last = reserve(place.holder, [charge(900)])
  first.settle([7])
  const closed = place.holder.close()
  resolve()
  await last
  await closed
  assert.deepEqual(place.sum(), { spent: 7, leased: 900 })
})

test('the budgets that have reached a share of their limits are counted while they are used', async () => {
  const place = new Place()
  const metrics = new BudgetMetrics()
  const holder = place.another(metrics)
  const small = { bucket: 'c', limit: 10 }
  ;(await admitted(holder, charge(700), charge(10, small))).settle([700, 10])
  const reached = async () => {
    // What is ready for calls to come is returned by then.
    place.clock.advance(2_001)
    await holder.look()
    return [metrics.reached['0.8'].value, metrics.reached['1'].value]
  }
  assert.deepEqual(await reached(), [1, 1])
  // Of a budget of nothing, nothing is left.
  ;(await admitted(holder, charge(0, { bucket: 'none', limit: 0 }))).settle([0])
  assert.deepEqual(await reached(), [2, 2])
  ;(await admitted(holder, charge(100))).settle([100])
  assert.deepEqual(await reached(), [3, 2])
  ;(await admitted(holder, charge(200))).settle([200])
  assert.deepEqual(await reached(), [3, 3])
  await refused(holder, charge(1))
  for (let i = 0; i < 4; i++) {
    place.clock.advance(10_000)
    await holder.look()
  }
  assert.deepEqual(await reached(), [0, 0])
})

test('budgets that are of no use any more are forgotten', async () => {
  const place = new Place()
  for (let i = 0; i < 100; i++) (await admitted(place.holder, charge(5, { bucket: `b${i}` }))).settle([5])
  for (let second = 0; second < 40; second++) {
    place.clock.advance(1_000)
    await place.holder.look()
  }
  assert.deepEqual(place.sum('b99'), { spent: 5, leased: 0 })
  await admitted(place.holder, charge(5, { bucket: 'b99' }))
  assert.notEqual(place.shareOf('b99', -1), place.shareOf('b99', 0))
})

test('a budget keeps its share while it is used now and then, and while it refuses', async () => {
  const place = new Place()
  const looks = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      place.clock.advance(1_000)
      await place.holder.look()
    }
  }
  const last = await admitted(place.holder, charge(800))
  last.settle([800])
  for (let i = 0; i < 10; i++) {
    await looks(20)
    const now = await admitted(place.holder, charge(5))
    now.settle([5])
  }
  for (let i = 0; i < 100; i++) {
    await looks(1)
    await refused(place.holder, charge(500))
  }
  assert.equal(place.shareOf('b', -1), place.shareOf('b', 0))
  assert.deepEqual(place.sum(), { spent: 850, leased: 0 })
  const steps = place.steps.length
  await place.holder.close()
  assert.equal(place.steps.length, steps)
})

test('during an outage, the oldest budgets that the store never heard of are forgotten', async () => {
  const place = new Place()
  const known = await admitted(place.holder, charge(10))
  place.fails = 'before'
  const unheardOf = (i: number) => charge(5, { bucket: `${i}` })
  for (let i = 0; i < 10_050; i++) await refused(place.holder, unheardOf(i))
  await place.holder.look()
  place.fails = null
  await place.holder.look()
  const numbers: number[] = []
  for (const i of [50, 51]) {
    await admitted(place.holder, unheardOf(i))
    numbers.push(Number.parseInt(place.shareOf(`${i}`, -1)!.split('.')[1]!, 36))
  }
  // With the one that is known, ten thousand stay.
  assert.deepEqual(numbers, [10_051, 52])
  known.settle([7])
  await place.holder.look()
  assert.equal(place.sum().spent, 7)
})

test('a look sends the steps of a hundred accounts at a time, beside those of accounts that are out', async () => {
  const place = new Place()
  const { holder } = place
  const large = charge(5, { limit: 1_000_000 })
  place.fails = 'before'
  await reserve(holder, [large], 'out')
  place.fails = null
  for (let i = 0; i < 201; i++) {
    const verdict = await reserve(holder, [large], `${i}`)
    assert.ok('buckets' in verdict)
    verdict.settle([5])
  }
  place.steps.length = 0
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  place.gate = first.promise
  const looked = holder.look()
  assert.equal(place.steps.length, 101)
  place.gate = second.promise
  first.resolve()
  await turns()
  assert.equal(place.steps.length, 201)
  second.resolve()
  await looked
  assert.equal(place.steps.length, 202)
})

async function turns(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate)
}

test('while a step is under way a look sends none, and what is spent then is for the next look', async () => {
  for (const buckets of [1, 500]) {
    const place = new Place()
    const { holder } = place
    const charges = Array.from({ length: buckets }, (_, i) => charge(5, { bucket: `${i}` }))
    const call = await admitted(holder, ...charges)
    const { promise, resolve } = Promise.withResolvers<void>()
    place.gate = promise
    const more = reserve(holder, [charge(900, { bucket: '0' })])
    call.settle(charges.map(() => 5))
    const looked = holder.look()
    assert.equal(place.steps.length, 2)
    resolve()
    await more
    await looked
    assert.equal(place.steps.length, 2)
    await holder.look()
    assert.equal(place.steps.length, 3)
  }
})

test('a step has five hundred lines at most that no call waits for, and others follow unless it fails', async () => {
  const place = new Place()
  const charges = Array.from({ length: 1_201 }, (_, i) => charge(5, { bucket: `${i}` }))
  const call = await admitted(place.holder, ...charges)
  call.settle(charges.map(() => 5))
  place.steps.length = 0
  place.fails = 'before'
  await place.holder.look()
  place.fails = null
  await place.holder.look()
  assert.deepEqual(
    place.steps.map(({ lines }) => lines.length),
    [500, 500, 500, 201],
  )
})

test('calls that do not fit together take few steps, and each is granted once', async () => {
  const place = new Place()
  const { promise, resolve } = Promise.withResolvers<void>()
  place.gate = promise
  const amounts = [100, 600, 700, 200]
  const calls = amounts.map(amount => reserve(place.holder, [charge(amount, { limit: 1_200 })]))
  resolve()
  const verdicts = await Promise.all(calls)
  const granted = verdicts.filter(verdict => 'buckets' in verdict)
  assert.deepEqual(
    granted.map(({ reserved }) => reserved[0]),
    [100, 600, 200],
  )
  assert.equal(place.steps.length, 4)
  for (const call of granted) call.settle([0])
  await place.holder.close()
  assert.deepEqual(place.sum(), { spent: 0, leased: 0 })
})

test('calls that seemed to fit together are decided, though another process takes what was free', async () => {
  const place = new Place()
  const other = place.another()
  const { promise, resolve } = Promise.withResolvers<void>()
  place.gate = promise
  place.onStep = () => {
    if (place.steps.length === 3) void reserve(other, [charge(300)])
  }
  const calls = [100, 500, 200, 500].map(amount => reserve(place.holder, [charge(amount)]))
  resolve()
  const verdicts = await Promise.all(calls)
  assert.deepEqual(
    verdicts.map(verdict => ('buckets' in verdict ? verdict.reserved[0] : verdict.reason)),
    [100, 500, 'over', 'over'],
  )
})

test('what is spent by a list of budgets that was forgotten meanwhile is counted, too', async () => {
  const place = new Place()
  const charges = [charge(5)]
  // Keeps the account.
  await admitted(place.holder, charge(5, { bucket: 'c' }))
  for (let times = 0; times < 2; times++) {
    const call = await reserve(place.holder, charges)
    assert.ok('buckets' in call)
    call.settle([5])
    for (let second = 0; second < 40; second++) {
      place.clock.advance(1_000)
      await place.holder.look()
    }
  }
  assert.equal(place.sum().spent, 10)
})

test('closing tries a store that had failed once more, and one that fails just then no more', async () => {
  const place = new Place()
  const open = charge(5, { whenUnreachable: 'open' })
  place.fails = 'before'
  ;(await admitted(place.holder, open)).settle([4])
  place.fails = null
  await place.holder.close()
  assert.equal(place.sum().spent, 4)
  const other = place.another()
  const { promise, resolve } = Promise.withResolvers<void>()
  place.gate = promise
  place.fails = 'before'
  place.steps.length = 0
  const last = reserve(other, [open])
  const closed = other.close()
  resolve()
  await last
  await closed
  assert.equal(place.steps.length, 1)
})

test('a holder looks every second, from its first call until it knows no account, or closes', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const place = new Place()
  const metrics = new BudgetMetrics()
  const holder = place.another(metrics, {})
  const stepsAfter = async (ms: number, account: string | null = null) => {
    const before = place.steps.length
    t.mock.timers.tick(ms)
    await turns()
    const steps = place.steps.length - before
    if (account === null) return steps
    const call = await reserve(holder, [charge(5, { bucket: account })], account)
    assert.ok('buckets' in call)
    call.settle([5])
    return steps
  }
  assert.equal(await stepsAfter(5_000, 'one'), 0)
  assert.equal(await stepsAfter(500, 'two'), 0)
  assert.deepEqual([await stepsAfter(499), await stepsAfter(1, 'one')], [0, 2])
  // It looks for all accounts at the same time.
  assert.deepEqual([await stepsAfter(999), await stepsAfter(1)], [0, 1])
  for (let second = 0; second < 40; second++) {
    place.clock.advance(1_000)
    await stepsAfter(1_000)
  }
  // Each look counts anew.
  metrics.reached['1'].value = 7
  await stepsAfter(10_000, 'one')
  assert.equal(metrics.reached['1'].value, 7)
  assert.equal(await stepsAfter(1_000, 'one'), 1)
  const call = await reserve(holder, [charge(5)], 'two')
  await holder.close()
  assert.ok('buckets' in call)
  call.settle([5])
  assert.equal(await stepsAfter(10_000), 0)
  // One that others look for has no timer.
  ;(await admitted(place.holder, charge(5))).settle([5])
  assert.equal(await stepsAfter(10_000), 0)
})

test('a call that reserved nothing still counts what it spent in the end', async () => {
  const place = new Place()
  const call = await admitted(place.holder, charge(0))
  for (let second = 0; second < 10; second++) {
    place.clock.advance(1_000)
    await place.holder.look()
  }
  call.settle([50])
  await place.holder.look()
  assert.equal(place.sum().spent, 50)
})
