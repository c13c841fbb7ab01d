import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { BudgetHolder } from '../../src/budgets/budget-holder.ts'
import { CallBudget, type Parts } from '../../src/budgets/call-budget.ts'
import type { Bucket, BudgetRule } from '../../src/budgets/rule-buckets.ts'
import { openStore } from '../../src/store/open.ts'
import type { BudgetUnit } from '../../src/store/records/budget-rule.ts'
import type { BudgetStep } from '../../src/store/records/budget.ts'
import { ManualClock } from '../help/clock.ts'

const day = { kind: 'fixed', until: Date.now() + 86_400_000 } as const

function bucketOf(unit: BudgetUnit, i: number): Bucket {
  const limit = 1_000_000_000
  const rule: BudgetRule = { id: unit, owner: 'gateway', unit, limit, words: '', whenUnreachable: 'closed' }
  const window = unit === 'concurrency' ? ({ kind: 'none' } as const) : day
  return { rule, bucket: `b${i}`, window, limit, whenUnreachable: 'closed' }
}

interface Demand {
  /** What is reserved of the budget of each unit, in this order. */
  readonly reserved: readonly (readonly [BudgetUnit, number])[]
  readonly parts?: readonly Parts[]
  readonly flatCost?: number
}

/** A call that has reserved what it demands, the store's sums, and what is charged if this process dies. */
async function begun(t: TestContext, { reserved, parts = [], flatCost }: Demand) {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const steps: BudgetStep[] = []
  const step = (step: BudgetStep) => {
    steps.push(step)
    return store.budgets.step(step)
  }
  const budgets = { step, read: store.budgets.read.bind(store.budgets) }
  const log = { warn: () => {}, info: () => {} }
  const clock = new ManualClock()
  const holder = new BudgetHolder({ budgets, clock, log, lookPeriod: null })
  const buckets = reserved.map(([unit], i) => bucketOf(unit, i))
  const amounts = reserved.map(([, amount]) => amount)
  const reservation = await holder.reserve('account', buckets, amounts)
  assert.ok('buckets' in reservation)
  const partsOf = (charge: number) => parts[charge]!
  const call = new CallBudget(reservation, { model: 'gpt-5', buckets, flatCost: flatCost ?? null, partsOf })
  let ends = 0
  call.onEnd = () => ends++
  const sums = () => store.budgets.read('account', buckets)
  return {
    call,
    clock,
    reservation,
    /** What is spent of each budget, once the call has ended. */
    async spent() {
      assert.equal(ends, 1)
      await holder.close()
      return (await sums()).map(({ spent, leased }) => (leased === 0 ? spent : assert.fail('some is leased')))
    },
    /** What is reserved at present, and of that charged if this process dies; null if the store need not know. */
    async atRisk() {
      const before = steps.length
      await holder.look()
      return steps.length === before ? null : steps.at(-1)!.lines.map(({ keep, ifLost }) => [keep, ifLost])
    },
  }
}

const use = { isBillable: true, cost: null, tokens: null, tokensOut: null }
const all = [
  ['concurrency', 1],
  ['cost', 5_000],
  ['tokens', 110],
] as const
const parts = [
  { tokensOut: 0, input: 0 },
  { tokensOut: 100, input: 1_000 },
  { tokensOut: 100, input: 10 },
]

const uses = [
  ['what it used', { ...use, cost: 0.0000021, tokens: 31 }, [0, 2_100, 31]],
  ['nothing where it used none', { ...use, cost: 0, tokens: 0 }, [0, 0, 0]],
  [
    'what it used, though it is not to be billed',
    { ...use, isBillable: false, cost: 1e-6, tokens: 2 },
    [0, 1_000, 2],
  ],
  ['nothing where the provider did no work', { ...use, isBillable: false, tokensOut: 20 }, [0, 0, 0]],
  ['all that was reserved, where that is unknown', use, [0, 5_000, 110]],
  ['its input and what came of its output', { ...use, tokensOut: 25 }, [0, 2_000, 35]],
  ['its input alone where nothing came', { ...use, tokensOut: 0 }, [0, 1_000, 10]],
  ['a part of a unit as a whole one', { ...use, tokensOut: 0.5 }, [0, 1_020, 11]],
  ['no more than was reserved, where more came', { ...use, tokensOut: 101 }, [0, 5_000, 110]],
] as const
for (const [what, used, spent] of uses) {
  test(`a call is charged ${what}`, async t => {
    const begin = await begun(t, { reserved: all, parts })
    begin.call.settle(used)
    assert.deepEqual(await begin.spent(), spent)
  })
}

const flat = [
  ['at a flat cost where its model has no price', { ...use, tokensOut: 25 }, 777],
  ['what it cost, whatever the flat cost', { ...use, cost: 1e-6 }, 1_000],
  ['nothing of a flat cost where the provider did no work', { ...use, isBillable: false }, 0],
] as const
for (const [what, used, spent] of flat) {
  test(`a call is charged ${what}`, async t => {
    const begin = await begun(t, { reserved: [['cost', 5_000]], parts: [parts[1]!], flatCost: 777 })
    begin.call.settle(used)
    assert.deepEqual(await begin.spent(), [spent])
  })
}

test('a call that is released is charged nothing', async t => {
  const begin = await begun(t, { reserved: all, parts })
  begin.call.release()
  assert.deepEqual(await begin.spent(), [0, 0, 0])
})

test('a call that is settled whole is charged all but its place among calls at a time', async t => {
  const begin = await begun(t, { reserved: all, parts })
  begin.call.settleWhole()
  assert.deepEqual(await begin.spent(), [0, 5_000, 110])
})

test('a process that dies is charged the input and what came, which only grows', async t => {
  const { call, atRisk } = await begun(t, { reserved: all, parts })
  call.checkpoint(25)
  assert.deepEqual(await atRisk(), [
    [1, 1],
    [5_000, 2_000],
    [110, 35],
  ])
  for (const fewer of [25, 24]) {
    call.checkpoint(fewer)
    assert.equal(await atRisk(), null)
  }
  call.checkpoint(26)
  assert.deepEqual(await atRisk(), [
    [1, 1],
    [5_000, 2_040],
    [110, 36],
  ])
  call.checkpoint(100)
  assert.deepEqual(await atRisk(), [
    [1, 1],
    [5_000, 5_000],
    [110, 110],
  ])
  call.checkpoint(101)
  assert.equal(await atRisk(), null)
})

test('a process that dies has nothing to charge where only calls at a time are limited', async t => {
  const { call, atRisk } = await begun(t, { reserved: [['concurrency', 1]] })
  call.checkpoint(5)
  assert.equal(await atRisk(), null)
  assert.deepEqual([call.isCounted, call.mayWrite], [false, false])
})

test('a session reserves what is missing, and is charged what it has spent so far', async t => {
  const { call, reservation, spent } = await begun(t, { reserved: all, parts })
  assert.equal(call.extend({ cost: 5_000, tokens: 110 }), null)
  assert.deepEqual(reservation.reserved, [1, 5_000, 110])
  assert.equal(await call.extend({ cost: 4_000, tokens: 200 }), null)
  assert.deepEqual(reservation.reserved, [1, 5_000, 200])
  assert.equal((await call.extend({ cost: 2e9, tokens: 200 }))?.charge, 1)
  call.noteSession({ cost: 1_234, tokens: 56 })
  call.settle({ ...use, cost: 1, tokens: 1_000 })
  assert.deepEqual(await spent(), [0, 1_234, 56])
})

test('a session that needs nothing more asks no store, however old its share is', async t => {
  const { call, clock } = await begun(t, { reserved: all, parts })
  clock.advance(60_000)
  assert.equal(call.extend({ cost: 5_000, tokens: 110 }), null)
})

test('the place of a call among calls at a time is free as soon as it ends', async t => {
  for (const end of ['settle', 'settleWhole', 'release'] as const) {
    const { call, reservation } = await begun(t, { reserved: all, parts })
    call.onEnd = null
    call[end]({ ...use, cost: 1e-6 })
    assert.equal(reservation.remaining(0), 1_000_000_000)
  }
})

test('a session whose model has no price is charged at the flat cost', async t => {
  const { call, spent } = await begun(t, { reserved: [['cost', 777]], flatCost: 777 })
  call.noteSession({ cost: 5, tokens: 5 })
  call.settle(use)
  assert.deepEqual(await spent(), [777])
})

test('a call may write as far as output is reserved in anything but calls at a time', async t => {
  const silent = { tokensOut: 0, input: 10 }
  const cases = [
    [all, parts, true],
    [all, [parts[1]!, silent, silent], false],
    [all.slice(0, 2), [silent, { tokensOut: 1, input: 0 }], true],
  ] as const
  for (const [reserved, parts, mayWrite] of cases) {
    const { call } = await begun(t, { reserved, parts })
    assert.deepEqual([call.model, call.isCounted, call.mayWrite], ['gpt-5', true, mayWrite])
  }
})
