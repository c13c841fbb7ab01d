import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { BudgetHolder } from '../../src/budgets/budget-holder.ts'
import type { LimitedBucket } from '../../src/budgets/charge.ts'
import { openStore } from '../../src/store/open.ts'
import type { BudgetStep } from '../../src/store/records/budget.ts'
import { ManualClock } from '../help/clock.ts'

const limit = 1_000
const window = { kind: 'fixed', until: Date.now() + 86_400_000 } as const

/** A call that has reserved a tenth of its limit, and what is spent and leased in the end. */
async function reserved(t: TestContext) {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const log = { warn: () => {}, info: () => {} }
  const steps: BudgetStep[] = []
  const step = (step: BudgetStep) => {
    steps.push(step)
    return store.budgets.step(step)
  }
  const budgets = { step, read: store.budgets.read.bind(store.budgets) }
  const holder = new BudgetHolder({ budgets, clock: new ManualClock(), log, lookPeriod: null })
  const bucket: LimitedBucket = { bucket: 'b', window, limit, whenUnreachable: 'closed' }
  const reservation = await holder.reserve('account', [bucket], [100])
  assert.ok('buckets' in reservation)
  const end = async () => {
    await holder.close()
    const [sum] = await store.budgets.read('account', [bucket])
    return sum
  }
  const lookedAt = async () => {
    await holder.look()
    return steps.at(-1)!.lines[0]!
  }
  return { reservation, lookedAt, end }
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
    assert.deepEqual([refusal?.reason, refusal?.charge, refusal?.limit], ['never', 0, limit])
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
