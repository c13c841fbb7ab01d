import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  emptyAccount,
  endOfAccount,
  readAccount,
  resetAccount,
  takeStep,
} from '../../../src/store/budget-ledger/ledger.ts'
import type { BudgetLine, BudgetWindow } from '../../../src/store/records/budget.ts'

const start = 1_700_000_000_000
const day: BudgetWindow = { kind: 'fixed', until: start + 86_400_000 }
const hour: BudgetWindow = { kind: 'sliding', period: 3_600_000 }

function lineOf(line: Partial<BudgetLine> = {}): BudgetLine {
  const none = { total: 0, confirmed: 0, keep: 0, ifLost: 0, need: 0, want: 0 }
  return { bucket: 'b', window: day, limit: 1000, share: 'p.0', ...none, ...line }
}

let sequence = 0
const step = (...lines: BudgetLine[]) => ({ account: 'a', sequence: ++sequence, lease: 15_000, lines })

test('a need is granted up to the limit, and a share only of what is left then', () => {
  const account = emptyAccount()
  const [first] = takeStep([account], step(lineOf({ need: 200, want: 500 })), start).states
  assert.deepEqual(first, { fits: true, amount: 250, leased: 250, spent: 0, wait: 0 })
  const other = lineOf({ share: 'q.0', need: 750 })
  assert.ok(takeStep([account], step(other), start).isGranted)
  const third = takeStep([account], step(lineOf({ share: 'r.0', need: 1, want: 9 })), start)
  assert.equal(third.isGranted, false)
  assert.deepEqual(third.states, [{ fits: false, amount: 0, leased: 1000, spent: 0, wait: 86_400_000 }])
})

test('of the needs of a step all are granted, or none, and nothing is lent then', () => {
  const [free, full] = [emptyAccount(), emptyAccount()]
  takeStep([full], step(lineOf({ bucket: 'f', share: 'q.0', need: 1000 })), start)
  const both = step(lineOf({ need: 10, want: 90 }), lineOf({ bucket: 'f', share: 'p.1', need: 1 }))
  const { isGranted, states } = takeStep([free, full], both, start)
  assert.equal(isGranted, false)
  assert.deepEqual(
    states.map(({ fits, amount }) => [fits, amount]),
    [
      [true, 0],
      [false, 0],
    ],
  )
})

test('a step that comes late, or twice, changes nothing', () => {
  const account = emptyAccount()
  const early = step(lineOf({ need: 100 }))
  const late = step(lineOf({ total: 40, keep: 60, ifLost: 60 }))
  takeStep([account], late, start)
  const before = JSON.stringify(account)
  for (const again of [early, late]) assert.equal(takeStep([account], again, start + 9).isGranted, false)
  assert.equal(JSON.stringify(account), before)
})

test('a step that comes between others changes nothing', () => {
  const account = emptyAccount()
  const [first, second, third] = [10, 20, 30].map(total => step(lineOf({ total })))
  for (const one of [first!, third!]) takeStep([account], one, start)
  assert.equal(takeStep([account], second!, start).isGranted, false)
  assert.deepEqual(readAccount(account, day, start), { spent: 30, leased: 0 })
})

test('a lease that expires is charged what it may have spent, and its process corrects that', () => {
  const account = emptyAccount()
  takeStep([account], step(lineOf({ need: 300 })), start)
  assert.deepEqual(readAccount(account, day, start + 14_999), { spent: 0, leased: 300 })
  assert.deepEqual(readAccount(account, day, start + 15_000), { spent: 300, leased: 0 })
  takeStep([account], step(lineOf({ total: 120 })), start + 20_000)
  assert.deepEqual(readAccount(account, day, start + 20_000), { spent: 120, leased: 0 })
})

test('a lease that expired counts from then on, whenever that is noticed, and as long as its account lasts', () => {
  const account = emptyAccount()
  takeStep([account], step(lineOf({ window: hour, need: 300 })), start)
  const end = endOfAccount(account, hour, start)
  for (const [at, spent] of [
    [start + 15_000, 300],
    [start + 3_600_000, 300],
    [end, 0],
  ] as const)
    assert.deepEqual(readAccount(structuredClone(account), hour, at), { spent, leased: 0 })
})

test('leases that are noticed together are charged in the order in which they expired', () => {
  const account = emptyAccount()
  const late = { ...step(lineOf({ window: hour, share: 'q.0', need: 200 })), lease: 300_000 }
  takeStep([account], late, start)
  takeStep([account], step(lineOf({ window: hour, need: 300 })), start)
  readAccount(account, hour, start + 400_000)
  const first = Math.floor((start + 15_000) / 60_000)
  assert.deepEqual(account.slots, [
    [first, 300],
    [Math.floor((start + 300_000) / 60_000), 200],
  ])
})

test('what was charged before a reset is not given back after it', () => {
  const account = emptyAccount()
  takeStep([account], step(lineOf({ need: 300 })), start)
  resetAccount(account, day, start + 15_000)
  takeStep([account], step(lineOf({ share: 'q.0', total: 50 })), start + 16_000)
  takeStep([account], step(lineOf({ total: 120 })), start + 17_000)
  assert.deepEqual(readAccount(account, day, start + 17_000), { spent: 50, leased: 0 })
})

test('what was spent leaves a sliding window, and the wait says when', () => {
  const account = emptyAccount()
  takeStep([account], step(lineOf({ window: hour, total: 900 })), start)
  const more = step(lineOf({ window: hour, share: 'q.0', need: 200 }))
  const { wait } = takeStep([account], more, start + 1000).states[0]!
  assert.ok(wait! > 3_599_000 - 60_000 && wait! <= 3_660_000, String(wait))
  assert.equal(
    takeStep([account], step(lineOf({ window: hour, share: 'q.0', need: 200 })), start + 1000 + wait!)
      .isGranted,
    true,
  )
})

test('more than the limit never fits, and a fixed window ends the wait', () => {
  const account = emptyAccount()
  takeStep([account], step(lineOf({ total: 900 })), start)
  const waitFor = (need: number) =>
    takeStep([account], step(lineOf({ share: `w.${need}`, need })), start + 1000).states[0]!.wait
  assert.deepEqual([waitFor(1001), waitFor(101), waitFor(100)], [null, 86_399_000, 0])
})

test('an account lasts as long as its window and its shares', () => {
  const endOf = (...lines: Partial<BudgetLine>[]) => {
    const account = emptyAccount()
    for (const line of lines) takeStep([account], step(lineOf(line)), start)
    const [line] = lines as [Partial<BudgetLine>]
    return endOfAccount(account, line.window ?? day, start) - start - 15_000
  }
  const minutes = (count: number) => count * 60_000
  const held: BudgetWindow = { kind: 'none' }
  assert.equal(endOf({ total: 1 }), minutes(24 * 60) - 15_000)
  assert.equal(endOf({ total: 1, window: { kind: 'fixed', until: start + 9 } }), minutes(10))
  assert.equal(endOf({ need: 1, window: held }), minutes(10))
  // Whose process does not know yet that it was counted.
  assert.equal(endOf({ total: 1, window: hour }), minutes(24 * 60))
  const known = (window: BudgetWindow) => [
    { total: 1, window },
    { total: 1, confirmed: 1, window },
  ]
  assert.equal(endOf(...known(hour)), minutes(61))
  assert.equal(endOf(...known({ ...hour, period: 60_000 })), minutes(10))
})

test('an account of which nothing is spent and nothing leased does not last as long as its window', () => {
  const full = lineOf({ bucket: 'full', limit: 0, need: 1 })
  for (const window of [day, hour]) {
    const account = emptyAccount()
    const end = () => endOfAccount(account, window, start) - start
    assert.equal(end(), 0)
    assert.equal(
      takeStep([account, emptyAccount()], step(lineOf({ need: 1, window }), full), start).isGranted,
      false,
    )
    assert.equal(end(), 615_000)
    takeStep([account], step(lineOf({ need: 1, window })), start)
    assert.ok(end() > 3_600_000)
    takeStep([account], step(lineOf({ window })), start)
    assert.equal(end(), 615_000)
  }
})

test('a process that comes back after hours is counted once, and charged for its lease no more', () => {
  for (const after of [3_600_000, 23 * 3_600_000]) {
    const account = emptyAccount()
    takeStep([account], step(lineOf({ total: 100, confirmed: 40, need: 50 })), start)
    assert.equal(readAccount(account, day, start + after).spent, 110)
    takeStep([account], step(lineOf({ total: 120, confirmed: 40 })), start + after)
    assert.deepEqual(readAccount(account, day, start + after), { spent: 80, leased: 0 })
  }
})

test('what a process says after its lease counts from then on, wherever the lease was charged', () => {
  const account = emptyAccount()
  takeStep([account], step(lineOf({ window: hour, need: 300 })), start)
  const later = start + 2 * 3_600_000
  assert.equal(readAccount(account, hour, later).spent, 0)
  takeStep([account], step(lineOf({ window: hour, total: 120 })), later)
  assert.equal(readAccount(account, hour, later).spent, 120)
})

test('of a share that is forgotten, what was confirmed counts no second time', () => {
  const account = emptyAccount()
  takeStep([account], step(lineOf({ total: 100 })), start)
  takeStep([account], step(lineOf({ total: 100, confirmed: 100 })), start)
  const later = start + 15_000 + 10 * 60_000
  assert.equal(readAccount(account, day, later).spent, 100)
  assert.deepEqual(Object.keys(account.shares), [])
  takeStep([account], step(lineOf({ total: 130, confirmed: 100 })), later)
  assert.equal(readAccount(account, day, later).spent, 130)
})

test('a step charges the leases that have expired by then', () => {
  const account = emptyAccount()
  takeStep([account], step(lineOf({ keep: 300, ifLost: 70 })), start)
  const { states } = takeStep([account], step(lineOf({ share: 'q.0' })), start + 15_000)
  assert.deepEqual(states, [{ fits: true, amount: 0, leased: 0, spent: 70, wait: 0 }])
})

test('a line that needs nothing fits, however much is spent', () => {
  const account = emptyAccount()
  const { isGranted } = takeStep([account], step(lineOf({ total: 1_500 })), start)
  assert.deepEqual([isGranted, readAccount(account, day, start).spent], [true, 1_500])
})

test('what is lent is a part of what is neither spent nor leased', () => {
  const account = emptyAccount()
  takeStep([account], step(lineOf({ total: 500 })), start)
  takeStep([account], step(lineOf({ share: 'q.0', need: 180 })), start)
  const { states } = takeStep([account], step(lineOf({ share: 'r.0', need: 160, want: 500 })), start)
  assert.equal(states[0]!.amount, 160 + 10)
})

test('what is spent has one slot at a time, and none for nothing or where nothing is spent', () => {
  const account = emptyAccount()
  const slot = Math.floor(start / 60_000)
  takeStep([account], step(lineOf({ window: hour })), start)
  assert.deepEqual(account.slots, [])
  takeStep([account], step(lineOf({ window: hour, total: 10 })), start)
  takeStep([account], step(lineOf({ window: hour, total: 15 })), start)
  // The clock was set back.
  takeStep([account], step(lineOf({ window: hour, total: 17 })), start - 3_600_000)
  assert.deepEqual(account.slots, [[slot, 17]])
  const held = emptyAccount()
  takeStep([held], step(lineOf({ window: { kind: 'none' }, total: 5 })), start)
  assert.deepEqual(held.slots, [])
})

test('what a lease was charged is given back once, where it was charged', () => {
  const account = emptyAccount()
  takeStep([account], step(lineOf({ window: hour, share: 'q.0', total: 200 })), start - 600_000)
  takeStep([account], step(lineOf({ window: hour, need: 300 })), start)
  readAccount(account, hour, start + 15_000)
  for (const total of [120, 120]) takeStep([account], step(lineOf({ window: hour, total })), start + 15_000)
  const slot = (at: number) => Math.floor(at / 60_000)
  assert.deepEqual(account.slots, [
    [slot(start - 600_000), 200],
    [slot(start + 15_000), 120],
  ])
})

test('a process that had a lease and spent nothing else is remembered like any other', () => {
  const account = emptyAccount()
  takeStep([account], step(lineOf({ need: 50 })), start)
  assert.equal(readAccount(account, day, start + 3_600_000).spent, 50)
  takeStep([account], step(lineOf({ total: 20 })), start + 3_600_000)
  assert.equal(readAccount(account, day, start + 3_600_000).spent, 20)
})

test('after a reset a share goes on from what it had said', () => {
  const account = emptyAccount()
  takeStep([account], step(lineOf({ total: 10 })), start)
  resetAccount(account, day, start)
  takeStep([account], step(lineOf({ total: 15 })), start)
  assert.deepEqual(readAccount(account, day, start), { spent: 5, leased: 0 })
})

test('of the shares that have ended some are remembered, those that their processes need longest', () => {
  const account = emptyAccount()
  const remembered = 128
  const count = remembered + 2
  // The process of an odd one knows all of it.
  for (let one = 0; one < count; one++) {
    const i = (37 * one) % count
    takeStep([account], step(lineOf({ share: `p.${1_000 + i}`, total: 1, confirmed: i % 2 })), start)
  }
  const others = (now: number) => {
    takeStep([account], step(lineOf({ share: 'z.0', need: 1 })), now)
    return Object.keys(account.shares)
  }
  assert.equal(others(start + 14_999).length, count + 1)
  const left = others(start + 15_000)
  assert.equal(left.length, remembered + 1)
  for (const forgotten of ['p.1001', 'p.1003']) assert.ok(!left.includes(forgotten), forgotten)
})

test('in a sliding window the wait is that of what is spent, unless leases alone are in the way', () => {
  const waitFor = (need: number, leased = 0) => {
    const account = emptyAccount()
    takeStep([account], step(lineOf({ window: hour, total: 400 })), start)
    takeStep([account], step(lineOf({ window: hour, total: 800, need: leased })), start + 600_000)
    const { states } = takeStep(
      [account],
      step(lineOf({ window: hour, share: 'q.0', need })),
      start + 600_000,
    )
    return states[0]!
  }
  const leavesAt = (at: number) => (Math.floor(at / 60_000) + 61) * 60_000 - (start + 600_000)
  const leaving = [
    [400, leavesAt(start)],
    [400, leavesAt(start + 600_000)],
  ]
  const unfit = { fits: false, amount: 0, leased: 0, spent: 800 }
  assert.deepEqual(waitFor(600), { ...unfit, wait: leavesAt(start), leaving })
  assert.deepEqual(waitFor(601), { ...unfit, wait: leavesAt(start + 600_000), leaving })
  assert.equal(waitFor(1_000).wait, leavesAt(start + 600_000))
  assert.deepEqual(waitFor(200), { ...unfit, fits: true, amount: 200, leased: 200, wait: 0 })
  assert.deepEqual([waitFor(200, 100).wait, waitFor(150, 100).wait], [1_000, 1_000])
})

test('an account of a long window lasts as long as something counts in it', () => {
  const days = (count: number) => count * 86_400_000
  const month: BudgetWindow = { kind: 'fixed', until: start + days(30) }
  const sliding: BudgetWindow = { kind: 'sliding', period: days(30) }
  const endOf = (...lines: Partial<BudgetLine>[]) => {
    const account = emptyAccount()
    for (const line of lines) takeStep([account], step(lineOf(line)), start)
    return endOfAccount(account, lines[0]!.window!, start) - start
  }
  const known = (window: BudgetWindow) => [
    { total: 1, window },
    { total: 1, confirmed: 1, window },
  ]
  assert.equal(endOf({ need: 1, window: month }), days(30))
  assert.equal(endOf(...known(month)), days(30))
  assert.equal(endOf({ need: 1, window: sliding }), days(30.5) + 15_000)
  // What was charged and given back is nothing.
  const account = emptyAccount()
  takeStep([account], step(lineOf({ window: month, need: 5 })), start)
  takeStep([account], step(lineOf({ window: month })), start + 15_000)
  assert.equal(endOfAccount(account, month, start + 15_000) - start, 630_000)
  // Of a window that is over, nothing is said any more.
  const over: BudgetWindow = { kind: 'fixed', until: start + 9 }
  const reset = emptyAccount()
  takeStep([reset], step(lineOf({ window: over, total: 1 })), start)
  resetAccount(reset, over, start)
  assert.equal(endOfAccount(reset, over, start) - start, 615_000)
})
