import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Purse } from '../../src/budgets/purse.ts'
import { emptyAccount, takeStep } from '../../src/store/budget-ledger/ledger.ts'
import type { BudgetState, BudgetWindow } from '../../src/store/records/budget.ts'

const day: BudgetWindow = { kind: 'fixed', until: Date.UTC(2040, 0, 1) }
const places: BudgetWindow = { kind: 'none' }
/** Monotonic ms at which each test begins. */
const start = 50_000

/** A purse of 1000, and steps of the ledger for it. */
function opened(window = day) {
  const purse = new Purse({ bucket: 'b', window }, 'p.0', start)
  purse.limitTo(1_000)
  const account = emptyAccount()
  let sequence = 0
  const step = (need: number, now = start) => {
    const line = purse.line(need, now)
    const { isGranted, states } = takeStep(
      [account],
      { account: 'a', sequence: ++sequence, lease: 15_000, lines: [line] },
      Date.UTC(2039, 0, 1) + now,
    )
    purse.confirm(states[0]!, isGranted, now)
    assert.ok(isGranted)
    if (need > 0) purse.hold(need, now)
    return line
  }
  return { purse, step }
}

/** What the store says of a bucket of 1000 that is full. */
function full(state: Partial<BudgetState> = {}): BudgetState {
  return { fits: false, amount: 0, spent: 0, leased: 1_000, wait: 1_000, ...state }
}

test('no more is drawn than is lent, whatever is at risk', () => {
  const { purse, step } = opened()
  step(100)
  assert.deepEqual([purse.free, purse.used, purse.remaining], [56, 156, 900])
  purse.risk(-90)
  assert.deepEqual([purse.canDraw(56, start), purse.canDraw(57, start)], [true, false])
})

test('no more is drawn than the store charges if this process dies', () => {
  for (const [spent, most] of [
    [20, 46],
    [66, 0],
    [100, -1],
  ] as const) {
    const { purse, step } = opened()
    step(100)
    purse.risk(-90)
    step(0)
    assert.equal(purse.free, 56)
    purse.settle(100, 10, spent, true)
    // It would charge the 10 at risk, and the 56.
    assert.deepEqual([purse.canDraw(most, start), purse.canDraw(most + 1, start)], [most >= 0, false])
    step(0)
    assert.ok(purse.canDraw(1, start))
  }
})

test('after a step without an outcome no more is drawn than it said, and another step is due', () => {
  const { purse, step } = opened()
  step(100)
  purse.risk(-90)
  purse.line(0, start)
  assert.equal(purse.needsStep(start), false)
  purse.lose()
  assert.equal(purse.needsStep(start), true)
  purse.settle(100, 10, 0, true)
  assert.deepEqual([purse.canDraw(10, start), purse.canDraw(11, start)], [true, false])
})

test('nothing is drawn while a step is under way', () => {
  const { purse, step } = opened()
  step(100)
  purse.line(0, start)
  purse.settle(100, 100, 0, true)
  assert.deepEqual([purse.free, purse.canDraw(5, start)], [100, false])
})

test('what is settled is free again, but for what was spent, and what the store did not grant', () => {
  const { purse, step } = opened()
  step(100)
  purse.settle(50, 50, 30, true)
  assert.equal(purse.free, 56 + 20)
  purse.hold(40, start)
  purse.settle(40, 40, 0, false)
  assert.equal(purse.free, 56 + 20)
})

test('a share is asked for by the need, and by what was drawn before', () => {
  const { purse, step } = opened()
  assert.equal(step(5).want, 40)
  purse.draw(20, start)
  purse.draw(20, start)
  assert.deepEqual([step(0).want, step(0).want], [90, 44])
})

test('a refusal is repeated for half a second', () => {
  const { purse } = opened()
  purse.refuse(10, 0, full(), start)
  assert.equal(purse.refusalOf(10, 0, start + 499)?.reason, 'over')
  assert.equal(purse.refusalOf(10, 0, start + 500), null)
  assert.equal(purse.refuse(10, 0, full({ wait: null }), start).reason, 'never')
})

test('a refusal is forgotten once the store grants something, and not as it refuses again', () => {
  const { purse, step } = opened()
  purse.refuse(10, 0, full(), start)
  purse.line(20, start)
  purse.confirm(full(), false, start)
  assert.equal(purse.refusalOf(10, 0, start)?.reason, 'over')
  step(5)
  assert.equal(purse.refusalOf(10, 0, start), null)
})

test('a purse is idle once the store knows all of it, no call has it and nothing was drawn for long', () => {
  const { purse, step } = opened()
  const late = start + 30_001
  assert.deepEqual([purse.isIdle(late), purse.isIdle(late - 1)], [true, false])
  purse.join()
  assert.equal(purse.isIdle(late), false)
  purse.leave()
  purse.hold(5, start)
  purse.settle(5, 5, 5, false)
  assert.deepEqual([purse.isIdle(late), purse.isEmpty, purse.isUncounted], [false, false, true])
  step(0, start + 2_001)
  // The reply may have been lost, as far as the store knows.
  assert.deepEqual([purse.isIdle(late), purse.isEmpty, purse.isUncounted], [false, true, false])
  assert.deepEqual([purse.needsStep(start + 2_000), purse.needsStep(start + 2_001)], [false, true])
  step(0, start + 2_001)
  assert.equal(purse.isIdle(late), true)
  purse.line(0, start)
  assert.equal(purse.isEmpty, false)
  purse.lose()
  assert.equal(purse.isEmpty, false)
})

test('a purse is unheard of until a step is confirmed, unless something of it counts', () => {
  const { purse, step } = opened()
  assert.equal(purse.isUnheardOf, true)
  purse.join()
  assert.equal(purse.isUnheardOf, false)
  purse.leave()
  purse.hold(5, start)
  assert.equal(purse.isUnheardOf, false)
  purse.settle(5, 5, 0, false)
  assert.equal(purse.isUnheardOf, true)
  purse.line(0, start)
  assert.equal(purse.isUnheardOf, false)
  purse.lose()
  assert.equal(purse.isUnheardOf, true)
  const spent = opened().purse
  spent.settle(0, 0, 5, false)
  assert.equal(spent.isUnheardOf, false)
  step(0)
  assert.equal(purse.isUnheardOf, false)
})

test('what the store leases for a call that it had not granted is returned after it', () => {
  const { purse, step } = opened()
  purse.hold(5, start)
  step(0, start + 2_001)
  purse.settle(5, 5, 0, false)
  assert.ok(purse.needsStep(start + 2_001))
})

test('a lease of which as much is reserved as is free is no reason for a step', () => {
  const { purse, step } = opened()
  step(49)
  purse.draw(5, start)
  assert.equal(purse.free, 54)
  assert.equal(purse.needsStep(start), false)
})

test('the wait for calls under way is what was given back took, and is forgotten by halves', () => {
  const { purse, step } = opened(places)
  purse.limitTo(1)
  step(1)
  step(0, start + 10_000)
  purse.settle(1, 1, 0, true)
  const wait = (now: number) => purse.refuse(1, 0, full({ leased: 1 }), start + now).wait
  assert.deepEqual([wait(29_999), wait(30_000)], [10_000, 3_000])
})

test('what was spent was not given back, nor more than was reserved', () => {
  const { purse, step } = opened()
  step(4)
  step(0, start + 12_000)
  purse.settle(4, 4, 1, true)
  purse.hold(1, start + 12_000)
  purse.settle(1, 1, 5, true)
  const refusal = (wait: number) => {
    const { wait: told, isEstimate } = purse.refuse(1_000, 0, full({ leased: 3, wait }), start + 12_000)
    return [told, isEstimate]
  }
  assert.deepEqual(refusal(100_000), [16_000, true])
  assert.deepEqual(refusal(16_000), [16_000, true])
  assert.deepEqual(refusal(15_999), [15_999, false])
})

test('calls under way are expected to take as long again as they have, up to a minute', () => {
  const { purse, step } = opened(places)
  purse.limitTo(1)
  // The limit was lowered during the step: of other processes nothing is known.
  assert.equal(purse.refuse(2, 0, full({ leased: 1 }), start).wait, 3_000)
  step(1)
  const wait = (now: number) => purse.refuse(1, 0, full({ leased: 1 }), start + now).wait
  assert.deepEqual([wait(20_000), wait(200_000)], [20_000, 60_000])
})
