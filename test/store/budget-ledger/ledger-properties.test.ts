// What holds for every sequence of steps, however its processes behave.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type BucketAccount,
  emptyAccount,
  readAccount,
  remembrance,
  takeStep,
} from '../../../src/store/budget-ledger/ledger.ts'
import type { BudgetLine, BudgetStep, BudgetWindow } from '../../../src/store/records/budget.ts'

const start = 1_700_000_000_000
const lease = 15_000
const windows: readonly BudgetWindow[] = [
  { kind: 'fixed', until: start + 86_400_000 },
  { kind: 'sliding', period: 60_000 },
  { kind: 'none' },
]

interface Event {
  /** Ms since the event before. */
  readonly pass: number
  readonly process: number
  /** How far back in time the sequence is. */
  readonly late: number
  readonly lines: readonly (Omit<BudgetLine, 'share' | 'window' | 'ifLost'> & { readonly risk: number })[]
}

const amount = fc.nat({ max: 80 })
const line = fc.record({
  ...{ limit: fc.nat({ max: 1_500 }), total: fc.nat({ max: 200 }), confirmed: fc.constantFrom(0, 0, 40) },
  ...{ keep: amount, risk: fc.nat({ max: 4 }), need: amount, want: fc.nat({ max: 900 }) },
})
const event = fc.record({
  pass: fc.oneof(fc.nat({ max: 900 }), fc.nat({ max: 40_000 })),
  process: fc.nat({ max: 3 }),
  late: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat({ max: 5 })),
  lines: fc
    .array(line, { minLength: 3, maxLength: 3 })
    .map(lines => lines.map((line, i) => ({ bucket: `${i}`, ...line }))),
})
const events: fc.Arbitrary<readonly Event[]> = fc.array(event, { minLength: 1, maxLength: 25 })

interface Moment {
  readonly accounts: readonly BucketAccount[]
  readonly step: BudgetStep
  readonly now: number
}

/** Takes the steps one after the other, and lets `check` take each. */
function play(events: readonly Event[], check: (moment: Moment) => void): void {
  const accounts = windows.map(emptyAccount)
  let now = start
  for (const [i, { pass, process, late, lines }] of events.entries()) {
    now += pass
    const sequence = Math.max(1, i + 1 - late)
    const step = {
      ...{ account: 'a', sequence, lease },
      lines: lines.map(
        ({ risk, ...line }, i): BudgetLine => ({
          ...line,
          window: windows[i]!,
          share: `p${process}.${i}`,
          ifLost: Math.floor((line.keep * risk) / 4),
        }),
      ),
    }
    check({ accounts, step, now })
  }
}

const sumsOf = (accounts: readonly BucketAccount[], now: number) =>
  accounts.map((account, i) => readAccount(account, windows[i]!, now))

function holds(check: (moment: Moment) => void): void {
  fc.assert(
    fc.property(events, events => play(events, check)),
    { numRuns: 500 },
  )
}

test('what is granted never exceeds the limit, and is all of a step or nothing', () => {
  let granted = 0
  let refused = 0
  holds(({ accounts, step, now }) => {
    const isRepeated = step.lines.some(
      ({ share }, i) => accounts[i]!.shares[share]?.sequence === step.sequence,
    )
    const { isGranted, states } = takeStep(accounts, step, now)
    isGranted ? granted++ : refused++
    for (const [i, { need, keep, limit }] of step.lines.entries()) {
      const { spent, leased, amount } = states[i]!
      assert.deepEqual({ spent, leased }, sumsOf(accounts, now)[i])
      if (isGranted && need > 0) assert.ok(spent + leased <= limit && amount >= keep + need)
    }
    // Of a step that is refused, what was promised before stays, and nothing is added.
    const isTaken = step.lines.every(({ share }, i) => accounts[i]!.shares[share]!.sequence === step.sequence)
    if (!isGranted && isTaken && !isRepeated)
      assert.deepEqual(
        states.map(({ amount }) => amount),
        step.lines.map(({ keep }) => keep),
      )
  })
  assert.ok(granted > 500 && refused > 500, `${granted} granted, ${refused} refused`)
})

test('a step that is repeated, or late, changes nothing', () => {
  holds(({ accounts, step, now }) => {
    takeStep(accounts, step, now)
    const before = JSON.stringify(accounts)
    assert.equal(takeStep(accounts, step, now).isGranted, false)
    takeStep(accounts, { ...step, sequence: step.sequence - 1 }, now)
    assert.equal(JSON.stringify(accounts), before)
  })
})

test('nothing is ever negative, and an account survives JSON', () => {
  holds(({ accounts, step, now }) => {
    const copies = accounts.map(account => JSON.parse(JSON.stringify(account)) as BucketAccount)
    assert.deepEqual(takeStep(copies, step, now), takeStep(accounts, step, now))
    assert.equal(JSON.stringify(copies), JSON.stringify(accounts))
    for (const { slots, shares } of accounts) {
      assert.ok(slots.every(([, spent]) => spent >= 0 && Number.isSafeInteger(spent)))
      for (const { amount, ifLost } of Object.values(shares)) assert.ok(ifLost >= 0 && ifLost <= amount)
    }
  })
})

test('leases that expire are charged what was said, and nothing is leased any more', () => {
  fc.assert(
    fc.property(events, events => {
      let last: Moment | null = null
      play(events, moment => {
        takeStep(moment.accounts, moment.step, moment.now)
        last = moment
      })
      const { accounts, now } = last! as Moment
      // The day is the only window from which nothing leaves.
      const { spent } = sumsOf(accounts, now)[0]!
      const lost = Object.values(accounts[0]!.shares).reduce((sum, { ifLost }) => sum + ifLost, 0)
      const after = sumsOf(accounts, now + lease)
      assert.deepEqual(after[0], { spent: spent + lost, leased: 0 })
      assert.deepEqual(
        after.map(({ leased }) => leased),
        [0, 0, 0],
      )
      const [, sliding, held] = sumsOf(accounts, now + lease + 2 * 60_000 + 1_000)
      assert.deepEqual([sliding, held], Array(2).fill({ spent: 0, leased: 0 }))
      sumsOf(accounts, now + lease + remembrance)
      for (const { shares } of accounts) assert.deepEqual(Object.keys(shares), [])
    }),
    { numRuns: 500 },
  )
})

test('the truth of a process replaces what its expired lease was charged', () => {
  fc.assert(
    fc.property(amount, amount, fc.nat({ max: 100 }), (keep, before, truth) => {
      const account = emptyAccount()
      const line = {
        bucket: 'b',
        window: windows[0]!,
        limit: 10_000,
        share: 'p',
        confirmed: 0,
        need: 0,
        want: 0,
      }
      const step = (sequence: number, total: number, keep: number) => ({
        ...{ account: 'a', sequence, lease },
        lines: [{ ...line, total, keep, ifLost: keep }],
      })
      takeStep([account], step(1, before, keep), start)
      assert.equal(readAccount(account, windows[0]!, start + lease).spent, before + keep)
      takeStep([account], step(2, before + truth, 0), start + lease + 1)
      assert.equal(readAccount(account, windows[0]!, start + lease + 1).spent, before + truth)
    }),
  )
})
