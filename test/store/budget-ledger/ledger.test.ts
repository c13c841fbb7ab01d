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
