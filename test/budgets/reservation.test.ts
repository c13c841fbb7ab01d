import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { BudgetHolder } from '../../src/budgets/budget-holder.ts'
import type { LimitedBucket } from '../../src/budgets/charge.ts'
import { Reservation } from '../../src/budgets/reservation.ts'
import { openStore } from '../../src/store/open.ts'
import type { BudgetStep } from '../../src/store/records/budget.ts'
import { ManualClock } from '../help/clock.ts'

const limit = 1_000
const window = { kind: 'fixed', until: Date.now() + 86_400_000 } as const

/** A call that has reserved a tenth of its limit, and what is spent and leased in the end. */
async function reserved(t: TestContext, whenUnreachable: LimitedBucket['whenUnreachable'] = 'closed') {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const log = { warn: () => {}, info: () => {} }
  const steps: BudgetStep[] = []
  const outage = { isOn: false }
  const step = async (step: BudgetStep) => {
    steps.push(step)
    if (outage.isOn) throw new Error('unreachable')
    return store.budgets.step(step)
  }
  const budgets = { step, read: store.budgets.read.bind(store.budgets) }
  const holder = new BudgetHolder({ budgets, clock: new ManualClock(), log, lookPeriod: null })
  const bucket: LimitedBucket = { bucket: 'b', window, limit, whenUnreachable }
  const another = async (amount: number) => {
    const reservation = await holder.reserve('account', [bucket], [amount])
    return 'buckets' in reservation ? reservation : assert.fail(reservation.reason)
  }
  const reservation = await another(100)
  const end = async () => {
    await holder.close()
    const [sum] = await store.budgets.read('account', [bucket])
    return sum
  }
  const lookedAt = async () => {
    await holder.look()
    return steps.at(-1)!.lines[0]!
  }
  return { reservation, another, outage, steps, lookedAt, end }
}

const noAmounts = [Number.NaN, Number.POSITIVE_INFINITY, -1, 0.5, 2 ** 53, undefined as unknown as number]

for (const amount of noAmounts) {
  test(`a call that spent ${amount} is charged whole`, async t => {
    const { reservation, end } = await reserved(t)
    reservation.settle([amount])
    assert.deepEqual(await end(), { bucket: 'b', spent: 100, leased: 0 })
  })

  test(`a call that needs ${amount} more never fits, and keeps what it has`, async t => {
    const { reservation, end } = await reserved(t)
    const refusal = await reservation.extend([amount])
    assert.deepEqual(refusal, {
      reason: 'never',
      charge: 0,
      limit,
      spent: 100,
      wait: Number.POSITIVE_INFINITY,
    })
    assert.deepEqual(reservation.reserved, [100])
    reservation.settle([7])
    assert.deepEqual(await end(), { bucket: 'b', spent: 7, leased: 0 })
  })

  test(`a checkpoint of ${amount} leaves all at risk`, async t => {
    const { reservation, lookedAt, end } = await reserved(t)
    reservation.checkpoint([5])
    assert.equal((await lookedAt()).ifLost, 5)
    reservation.checkpoint([amount])
    assert.equal((await lookedAt()).ifLost, 100)
    reservation.settle([6])
    assert.deepEqual(await end(), { bucket: 'b', spent: 6, leased: 0 })
  })
}

test('where nothing is spent yet, all of the limit is left', async t => {
  const { reservation } = await reserved(t)
  const lender = { lend: () => 'granted' as const }
  assert.equal(new Reservation(lender, 'account', reservation.buckets, [1], []).remaining(0), limit)
  assert.equal(reservation.remaining(0), limit - 100)
})

test('what is at risk of a call goes with it, and is no more than that', async t => {
  const { reservation, another, lookedAt } = await reserved(t)
  const other = await another(50)
  reservation.checkpoint([5])
  reservation.settle([5])
  reservation.checkpoint([1])
  assert.equal((await lookedAt()).ifLost, 50)
  other.settle([0])
})

test('what a call reserves further is at risk, until it says otherwise', async t => {
  const { reservation, lookedAt, steps, end } = await reserved(t)
  reservation.checkpoint([5])
  assert.equal(await reservation.extend([500]), null)
  assert.equal(steps.at(-1)!.account, 'account')
  reservation.checkpoint([505])
  assert.equal((await lookedAt()).ifLost, 505)
  assert.equal(await reservation.extend([10]), null)
  await end()
  assert.equal(steps.at(-1)!.lines[0]!.ifLost, 515)
  reservation.settle([0])
})

test('a call is granted unless some of it was admitted without the store, of which none is drawn again', async t => {
  const { reservation, another, outage, lookedAt } = await reserved(t, 'open')
  assert.equal(await reservation.extend([200]), null)
  assert.equal(reservation.isGranted, true)
  outage.isOn = true
  assert.equal(await reservation.extend([300]), null)
  assert.equal(reservation.isGranted, false)
  const other = await another(5)
  assert.equal(other.isGranted, false)
  const before = reservation.remaining(0)
  reservation.settle([0])
  assert.equal(reservation.remaining(0), before)
  other.settle([0])
  outage.isOn = false
  assert.equal((await lookedAt()).keep, 0)
})
