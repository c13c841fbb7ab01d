// Measures what reserving and settling three budgets costs a call far from their limits, in ns: node bench/micro/budgets/reserve.ts
import { systemClock } from '../../../src/base/clock.ts'
import { BudgetHolder } from '../../../src/budgets/budget-holder.ts'
import type { LimitedBucket } from '../../../src/budgets/charge.ts'
import { emptyAccount, takeStep } from '../../../src/store/budget-ledger/ledger.ts'
import type { Budgets } from '../../../src/store/contract/budgets.ts'
import type { BudgetWindow } from '../../../src/store/records/budget.ts'
import { medianOf } from '../median.ts'

const calls = 200_000
const month: BudgetWindow = { kind: 'fixed', until: Date.now() + 30 * 86_400_000 }
const windows: readonly BudgetWindow[] = [month, { kind: 'sliding', period: 60_000 }, { kind: 'none' }]
const buckets = windows.map(
  (window, i): LimitedBucket => ({
    bucket: `b${i}`,
    window,
    limit: Number.MAX_SAFE_INTEGER,
    whenUnreachable: 'closed',
  }),
)
const one = buckets.slice(0, 1)
const amounts = [1_000, 1_000, 1_000]
const spent = [900, 900, 0]

const holder = new BudgetHolder({
  budgets: ownLedger(),
  clock: systemClock,
  log: { warn: console.warn, info: console.info },
  lookPeriod: null,
})
// Leases large shares, as to a process that has been busy.
const opened = await holder.reserve(
  'account',
  buckets,
  buckets.map(() => 10 ** 12),
)
if ('reason' in opened) throw new Error(opened.reason)
opened.settle([0, 0, 0])

print('three budgets', () => settled(buckets))
print('one budget', () => settled(one))
await holder.close()

function settled(buckets: readonly LimitedBucket[]): void {
  const reservation = holder.reserve('account', buckets, amounts)
  if (!('buckets' in reservation)) throw new Error('a call that is far from its limits had to wait')
  reservation.settle(spent)
}

function print(name: string, call: () => void): void {
  console.log(`${name.padEnd(20)} ${medianOf(calls, call).toFixed(0).padStart(5)} ns`)
}

/** The ledger without a store around it. */
function ownLedger(): Pick<Budgets, 'step' | 'read'> {
  const accounts = buckets.map(emptyAccount)
  return { step: async step => takeStep(accounts, step, Date.now()), read: async () => [] }
}
