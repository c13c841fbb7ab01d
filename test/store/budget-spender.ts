// A process that spends from one bucket in the store of its argument as fast as it can, with several shares, and tells its parent what was granted or confirmed.

import { randomBytes } from 'node:crypto'
import { openStore } from '../../src/store/open.ts'
import type { BudgetLine } from '../../src/store/records/budget.ts'
import { bucket, type Grants, lease, type SpendOrder, sharesEach } from './budget-spending.ts'

const store = await openStore(process.argv[2]!, { commandTimeout: 30_000 })
const nothing = { total: 0, confirmed: 0, keep: 0, ifLost: 0, need: 0, want: 0 }

process.on('disconnect', () => process.exit())
process.on('message', order => void carryOut(order as SpendOrder))
process.send!('ready')

async function carryOut(order: SpendOrder): Promise<void> {
  const shares = Array.from({ length: sharesEach }, () => randomBytes(9).toString('base64url'))
  if (order.kind === 'report') await Promise.all(shares.map(share => report(order, share)))
  else process.send!((await Promise.all(shares.map(share => take(order, share)))).flat() satisfies Grants)
}

/** Reserves one more again and again until that is refused, and returns what was spent and leased after each. */
async function take({ account, limit }: SpendOrder, share: string): Promise<Grants> {
  const after: number[] = []
  for (;;) {
    // Every other one is spent by the time of the next step.
    const total = Math.ceil(after.length / 2)
    const keep = after.length - total
    const line: BudgetLine = { ...bucket, ...nothing, limit, share, total, keep, ifLost: keep, need: 1 }
    const { isGranted, states } = await store.budgets.step({
      ...{ account, lease, sequence: after.length + 1 },
      lines: [line],
    })
    if (!isGranted) return after
    after.push(states[0]!.spent + states[0]!.leased)
  }
}

/** Reports one more as spent, without end. */
async function report({ account, limit }: SpendOrder, share: string): Promise<void> {
  for (let total = 1; ; total++) {
    const line = { ...bucket, ...nothing, limit, share, total }
    await store.budgets.step({ account, lease, sequence: total, lines: [line] })
    await new Promise(resolve => void process.send!(1, resolve))
  }
}
