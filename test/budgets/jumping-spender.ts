// A process that spends budgets of the account of its arguments as fast as it can, while its parent sets its clock.

import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/clock.ts'
import { BudgetHolder } from '../../src/budgets/budget-holder.ts'
import { openStore } from '../../src/store/open.ts'
import { bucketsAt, type Order, type Report } from './jumping-clocks.ts'

const [url, account] = process.argv.slice(2) as [string, string]
const callers = 16
/** Reserved and spent by each call. */
const [most, cost] = [10, 8]

const realNow = Date.now
let shift = 0
// As when the system is set: the store and all rules see it.
Date.now = () => realNow() + shift

const store = await openStore(url, { commandTimeout: 30_000 })
const log = { warn: () => {}, info: () => {} }
const holder = new BudgetHolder({ budgets: store.budgets, clock: systemClock, log, patience: null })
const spent: Record<string, number> = {}
let [calls, refusals] = [0, 0]
let isStopped = false
const running: Promise<void>[] = []

process.on('disconnect', () => process.exit())
process.on('message', order => void carryOut(order as Order))
tell()

async function carryOut(order: Order): Promise<void> {
  if (order.kind === 'jump') shift += order.ms
  if (order.kind === 'start')
    running.push(...Array.from({ length: callers }, () => spend(order.limit)))
    // What was said before the order may be of the time before the jump.
  ;[calls, refusals] = [0, 0]
  if (order.kind !== 'stop') return
  isStopped = true
  await Promise.all(running)
  await holder.close()
  tell()
}

async function spend(limit: number): Promise<void> {
  while (!isStopped) {
    const buckets = bucketsAt(account, limit, Date.now())
    const call = await holder.reserve(account, buckets, [most, most])
    if ('buckets' in call) {
      await sleep(1)
      call.settle([cost, cost])
      for (const { bucket } of buckets) spent[bucket] = (spent[bucket] ?? 0) + cost
      calls++
    } else {
      refusals++
      await sleep(5)
    }
    if ((calls + refusals) % 20 === 0) tell()
  }
}

function tell(): void {
  process.send!({ calls, refusals, spent } satisfies Report)
}
