// What a step does to the buckets of an account: the reference that every backend follows.

import { bucketReach, bucketWidth } from '../../base/sliding-window.ts'
import { day, minute } from '../../base/units.ts'
import type {
  BudgetLine,
  BudgetReply,
  BudgetState,
  BudgetStep,
  BudgetSum,
  BudgetWindow,
  Leaving,
} from '../records/budget.ts'

/** The account of one bucket, as JSON can hold it. */
export interface BucketAccount {
  /** What was spent, by slot of time: oldest first, and one slot unless the window slides. */
  readonly slots: Slot[]
  readonly shares: Record<string, Share>
}

type Slot = [slot: number, spent: number]

interface Share {
  /** Of the total of the share, what counts as spent. */
  reported: number
  amount: number
  ifLost: number
  /** Ms since the epoch; stays when the lease has expired. */
  expiresAt: number
  /** When the share is forgotten, in ms since the epoch. */
  keptUntil: number
  /** What was charged when the lease expired, until its process says what it spent; null for nothing. */
  charged: Slot | null
  sequence: number
}

/**
 * Ms for which a share without a lease is remembered: its process may come back after an outage, not knowing
 * what was counted last, and correct what it was charged.
 */
export const remembrance = day
/** The same for a share of which its process knows everything: a step that arrives late changes nothing. */
export const shortRemembrance = 10 * minute

/** Shares without a lease that a bucket remembers, since each step reads all of them. */
export const maxEnded = 128

/** The part of what is left that may be lent for calls to come. */
export const lentPart = 16

export function emptyAccount(): BucketAccount {
  return { slots: [], shares: Object.create(null) }
}

/** Takes a step at a time of the store, in ms since the epoch; changes the accounts, one for each line. */
export function takeStep(accounts: readonly BucketAccount[], step: BudgetStep, now: number): BudgetReply {
  const { lines, sequence, lease } = step
  let isGranted = true
  const taken = new Set<Share>()
  const states = lines.map((line, i): BudgetState => {
    const account = accounts[i]!
    expire(account, line.window, now)
    const share = account.shares[line.share]
    if (share !== undefined && share.sequence >= sequence) isGranted = false
    else taken.add(report(account, line, sequence, now))
    const { spent, leased } = sumOf(account, line.window, now)
    const fits = spent + leased + line.need <= line.limit || line.need === 0
    if (!fits) isGranted = false
    const leaving = fits ? null : leavingIn(account, line.window, now)
    const wait = fits ? 0 : waitOf(line, spent, leaving, now)
    const { amount } = account.shares[line.share]!
    return { fits, amount, leased, spent, wait, ...(leaving !== null && { leaving }) }
  })
  const granted = isGranted ? states.map((state, i) => grant(accounts[i]!, lines[i]!, state)) : states
  for (const [i, line] of lines.entries()) {
    const { share: name, ifLost, keep } = line
    const share = accounts[i]!.shares[name]!
    if (taken.has(share)) {
      share.ifLost = ifLost + share.amount - keep
      share.expiresAt = now + lease
      share.keptUntil = share.expiresAt + (isKnown(line, share) ? shortRemembrance : remembrance)
    }
    forgetEnded(accounts[i]!, now)
  }
  return { isGranted, states: granted }
}

/** Whether its process knows all that the store has about a share, even without the reply to the step. */
function isKnown({ window, total, confirmed }: BudgetLine, { amount }: Share): boolean {
  return window.kind === 'none' || (amount === 0 && total === confirmed)
}

/** Charges what expired leases may have spent, and forgets shares that are long over. */
function expire(account: BucketAccount, window: BudgetWindow, now: number): void {
  const expired = Object.entries(account.shares).filter(([, { expiresAt }]) => expiresAt <= now)
  // By time, as nothing is spent in an earlier slot than the last one.
  for (const [name, share] of expired.sort(([, one], [, other]) => one.expiresAt - other.expiresAt)) {
    if (share.amount > 0) {
      share.charged = spend(account, window, share.ifLost, share.expiresAt)
      share.amount = share.ifLost = 0
    }
    if (share.keptUntil <= now) delete account.shares[name]
  }
}

/** Forgets the shares that would be forgotten first; what was charged for them stays spent. */
function forgetEnded({ shares }: BucketAccount, now: number): void {
  const all = Object.entries(shares)
  if (all.length <= maxEnded) return
  const ended = all.filter(([, { expiresAt }]) => expiresAt <= now)
  ended.sort(([name, one], [other, two]) => one.keptUntil - two.keptUntil || (name < other ? -1 : 1))
  for (const [name] of ended.slice(0, Math.max(0, ended.length - maxEnded))) delete shares[name]
}

function report(account: BucketAccount, line: BudgetLine, sequence: number, now: number): Share {
  const { total, confirmed, keep, share: name } = line
  const share = (account.shares[name] ??= {
    reported: confirmed,
    amount: 0,
    ifLost: 0,
    expiresAt: 0,
    keptUntil: 0,
    charged: null,
    sequence,
  })
  giveBack(account, share)
  spend(account, line.window, Math.max(0, total - share.reported), now)
  share.reported = total
  share.amount = keep
  share.sequence = sequence
  return share
}

/** Returns the slot in which an amount of a time counts, and how much of it. */
function spend({ slots }: BucketAccount, window: BudgetWindow, amount: number, at: number): Slot | null {
  if (amount === 0 || window.kind === 'none') return null
  const last = slots.at(-1)
  // The clock of a store may be set back, and leases that have expired are noticed late.
  const slot = Math.max(slotOf(window, at), last?.[0] ?? 0)
  if (last?.[0] === slot) last[1] += amount
  else slots.push([slot, amount])
  return [slot, amount]
}

/** Returns what was charged for a lease that expired, unless that has left the window since. */
function giveBack({ slots }: BucketAccount, share: Share): void {
  const { charged } = share
  const slot = charged && slots.find(([slot]) => slot === charged[0])
  if (slot) slot[1] -= Math.min(charged![1], slot[1])
  share.charged = null
}

function grant(account: BucketAccount, { share: name, limit, need, want }: BudgetLine, state: BudgetState) {
  const share = account.shares[name]!
  const room = limit - state.spent - state.leased - need
  const lent = need + Math.max(0, Math.min(want, Math.floor(room / lentPart)))
  share.amount += lent
  return { ...state, amount: share.amount, leased: state.leased + lent }
}

/** Sums up what is spent and leased, without what has left the window. */
function sumOf(account: BucketAccount, window: BudgetWindow, now: number): Omit<BudgetSum, 'bucket'> {
  const { slots, shares } = account
  const first = firstSlot(window, now)
  while (slots.length > 0 && slots[0]![0] < first) slots.shift()
  const spent = slots.reduce((sum, [, amount]) => sum + amount, 0)
  const leased = Object.values(shares).reduce((sum, { amount }) => sum + amount, 0)
  return { spent, leased }
}

/** Returns what counts now, charging leases that have expired. */
export function readAccount(account: BucketAccount, window: BudgetWindow, now: number) {
  expire(account, window, now)
  return sumOf(account, window, now)
}

/** Forgets what was spent, and what was charged for leases that have expired. */
export function resetAccount(account: BucketAccount, window: BudgetWindow, now: number): void {
  expire(account, window, now)
  account.slots.length = 0
  for (const share of Object.values(account.shares)) {
    share.reported += share.charged?.[1] ?? 0
    share.charged = null
  }
}

/** When nothing of an account is needed any more, in ms since the epoch. */
export function endOfAccount({ slots, shares }: BucketAccount, window: BudgetWindow, now: number): number {
  const all = Object.values(shares)
  const keptUntil = Math.max(now, ...all.map(({ keptUntil }) => keptUntil))
  // Calls that spend nothing may name values without end.
  const isUnspent = slots.every(([, spent]) => spent === 0) && all.every(({ amount }) => amount === 0)
  if (window.kind === 'none' || (isUnspent && window.kind === 'sliding')) return keptUntil
  const last = Math.max(now, ...all.map(({ expiresAt }) => expiresAt))
  // What is said of a window that is over counts nowhere.
  if (window.kind === 'fixed') {
    const end = Math.max(last + shortRemembrance, window.until)
    return isUnspent ? Math.min(end, keptUntil) : end
  }
  return Math.max(keptUntil, last + (bucketReach(window.period) + 1) * bucketWidth(window.period))
}

/** Leases may end at any time, so while only they are in the way the wait is short. */
export const shortWait = 1000

function waitOf(
  { window, limit, need }: BudgetLine,
  spent: number,
  leaving: readonly Leaving[] | null,
  now: number,
): number | null {
  if (need > limit) return null
  if (window.kind === 'fixed') return Math.max(0, window.until - now)
  return leaving === null ? shortWait : waitUntilLeft(leaving, spent + need - limit)
}

/** Returns the ms until so much has left a sliding window. */
export function waitUntilLeft(leaving: readonly Leaving[], excess: number): number {
  if (excess <= 0) return shortWait
  let left = 0
  for (const [amount, wait] of leaving) {
    left += amount
    if (left >= excess) return wait
  }
  return shortWait
}

function leavingIn({ slots }: BucketAccount, window: BudgetWindow, now: number): readonly Leaving[] | null {
  if (window.kind !== 'sliding') return null
  const [reach, width] = [bucketReach(window.period), bucketWidth(window.period)]
  return slots.map(([slot, amount]) => [amount, (slot + reach + 1) * width - now])
}

function slotOf(window: BudgetWindow, now: number): number {
  return window.kind === 'sliding' ? Math.floor(now / bucketWidth(window.period)) : 0
}

function firstSlot(window: BudgetWindow, now: number): number {
  return window.kind === 'sliding' ? slotOf(window, now) - bucketReach(window.period) : 0
}
