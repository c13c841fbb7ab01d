// Three processes spend budgets together, while the clock of one of them jumps an hour ahead, and two back.

import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { on } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import { startRedis } from '../help/redis.ts'
import { kill } from '../store/budget-spending.ts'
import { hex } from '../store/contract-specimens.ts'
import { temporaryFile } from '../store/sqlite/temporary-file.ts'
import { bucketsAt, type Order, type Report } from './jumping-clocks.ts'

const stores: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  Redis: async t => (await startRedis(t)).url,
  SQLite: async t => `sqlite:${temporaryFile(t)}`,
}
const program = join(import.meta.dirname, 'jumping-spender.ts')
const hour = 3_600_000
const limit = 10_000

class Spender {
  readonly child: ChildProcess
  readonly #reports: AsyncIterator<[Report]>

  constructor(t: TestContext, url: string, account: string) {
    this.child = fork(program, [url, account])
    this.#reports = on(this.child, 'message', { close: ['exit'] }) as AsyncIterator<[Report]>
    t.after(() => kill(this.child))
  }

  order(order: Order): void {
    this.child.send(order)
  }

  /** Returns the first report from here on that is as wanted. */
  async report(isWanted: (report: Report) => boolean = () => true): Promise<Report> {
    for (;;) {
      const { value, done } = await this.#reports.next()
      assert.ok(!done, 'a process ended')
      if (isWanted(value[0])) return value[0]
    }
  }
}

for (const [name, place] of Object.entries(stores))
  test(`${name}: a process whose clock jumps spends nothing beyond the limit`, async t => {
    const url = await place(t)
    const account = hex(16)
    const spenders = Array.from({ length: 3 }, () => new Spender(t, url, account))
    await Promise.all(spenders.map(one => one.report()))
    for (const one of spenders) one.order({ kind: 'start', limit })
    const [jumping] = spenders
    for (const ms of [hour, -2 * hour, hour]) {
      await jumping!.report(({ calls, refusals }) => calls + refusals >= 40)
      jumping!.order({ kind: 'jump', ms })
    }
    await Promise.all(spenders.map(one => one.report(({ refusals }) => refusals >= 100)))
    for (const one of spenders) one.order({ kind: 'stop' })
    const last = await Promise.all(spenders.map(one => one.report()))
    const spent: Record<string, number> = {}
    for (const report of last)
      for (const [bucket, amount] of Object.entries(report.spent))
        spent[bucket] = (spent[bucket] ?? 0) + amount
    for (const [bucket, amount] of Object.entries(spent)) assert.ok(amount <= limit, `${bucket}: ${amount}`)
    const store = await openStore(url, { commandTimeout: 4_000 })
    t.after(() => store.close())
    const sums = await store.budgets.read(account, bucketsAt(account, limit, Date.now()))
    // Of the month there may have been two, before and after a jump.
    for (const sum of sums) assert.deepEqual([sum.spent, sum.leased], [spent[sum.bucket] ?? 0, 0])
    assert.ok(sums[1]!.spent > 0.9 * limit, `${sums[1]!.spent}`)
  })
