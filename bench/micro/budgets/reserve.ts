// Measures what reserving and settling three budgets costs a call far from their limits, in ns: node bench/micro/budgets/reserve.ts
import { systemClock } from '../../../src/base/clock.ts'
import { BudgetHolder } from '../../../src/budgets/budget-holder.ts'
import type { Charge } from '../../../src/budgets/charge.ts'
import { emptyAccount, takeStep } from '../../../src/store/budget-ledger/ledger.ts'
import type { Budgets } from '../../../src/store/contract/budgets.ts'
import type { BudgetWindow } from '../../../src/store/records/budget.ts'
import { medianOf } from '../median.ts'

const calls = 200_000
const month: BudgetWindow = { kind: 'fixed', until: Date.now() + 30 * 86_400_000 }
const windows: readonly BudgetWindow[] = [month, { kind: 'sliding', period: 60_000 }, { kind: 'none' }]
const charges = windows.map(
  (window, i): Charge => ({
    bucket: `b${i}`,
    window,
    limit: Number.MAX_SAFE_INTEGER,
    amount: 1_000,
    whenUnreachable: 'closed',
  }),
)
// Leases large shares, as to a process that has been busy.
const first = charges.map(charge => ({ ...charge, amount: 10 ** 12 }))
const one = charges.slice(0, 1)
const spent = [900, 900, 0]

const holder = new BudgetHolder({
  budgets: ownLedger(),
  clock: systemClock,
  log: { warn: console.warn, info: console.info },
  lookPeriod: null,
})
const opened = await holder.reserve('account', first)
if ('reason' in opened) throw new Error(opened.reason)
opened.settle([0, 0, 0])

print('three budgets', () => settled(charges))
print('one budget', () => settled(one))
await holder.close()

function settled(charges: readonly Charge[]): void {
  const reservation = holder.reserve('account', charges)
  if (!('charges' in reservation)) throw new Error('a call that is far from its limits had to wait')
  reservation.settle(spent)
}

function print(name: string, call: () => void): void {
  console.log(`${name.padEnd(20)} ${medianOf(calls, call).toFixed(0).padStart(5)} ns`)
}

/** The ledger without a store around it. */
function ownLedger(): Pick<Budgets, 'step'> {
  const accounts = charges.map(emptyAccount)
  return { step: async step => takeStep(accounts, step, Date.now()) }
}
