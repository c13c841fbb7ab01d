// Mistakes that one could make in the code of budgets, each of which the schedules must find.

import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { simulate } from './budget-schedule.ts'
import { root } from './source.ts'

interface BudgetMutation {
  readonly file: string
  /** In the file once, and what it becomes. */
  readonly from: string
  readonly to: string
  /** Whether it takes thousands of schedules. */
  readonly isRare?: true
}

const [ledger, purse, holder, reservation] = [
  'src/store/budget-ledger/ledger.ts',
  'src/budgets/purse.ts',
  'src/budgets/budget-holder.ts',
  'src/budgets/reservation.ts',
]

export const mutations: readonly BudgetMutation[] = [
  { file: ledger, from: 'share.sequence >= sequence', to: 'share.sequence > sequence' },
  { file: ledger, from: 'if (!fits) isGranted = false', to: '' },
  { file: ledger, from: 'spent + leased + line.need <=', to: 'spent + line.need <=' },
  { file: ledger, from: 'state.spent - state.leased - need', to: 'state.spent - need' },
  { file: ledger, from: 'share.ifLost = ifLost + share.amount - keep', to: 'share.ifLost = ifLost' },
  { file: ledger, from: 'now + lease\n', to: 'now + 2 * lease\n' },
  { file: ledger, from: 'window, share.ifLost, share', to: 'window, 0, share' },
  { file: ledger, from: 'share.amount = share.ifLost = 0', to: '' },
  { file: ledger, from: 'isKnown(line, share) ?', to: 'true ?' },
  { file: ledger, from: 'reported: confirmed', to: 'reported: 0' },
  { file: ledger, from: '  giveBack(account, share)\n', to: '' },
  { file: ledger, from: 'Math.max(0, total - share.reported), now', to: 'total, now' },
  { file: ledger, from: 'share.reported = total', to: '' },
  { file: ledger, from: 'share.amount = keep', to: 'share.amount = 0' },
  { file: ledger, from: 'slots[0]![0] < first', to: 'slots[0]![0] <= first' },
  { file: ledger, from: 'slotOf(window, now) - bucketReach', to: 'slotOf(window, now) - 0 * bucketReach' },
  { file: ledger, from: 'share.reported += share.charged?.[1] ?? 0', to: '', isRare: true },
  { file: ledger, from: 'account.slots.length = 0', to: '' },
  { file: purse, from: 'now - this.#confirmedAt > drawingPeriod', to: 'false' },
  { file: purse, from: 'this.#free = 0\n', to: '\n' },
  { file: purse, from: 'keep: this.#held', to: 'keep: 0' },
  { file: purse, from: 'ifLost: Math.min(this.#atRisk, this.#held)', to: 'ifLost: 0' },
  { file: purse, from: '(isGranted ? need : 0)', to: '0' },
  { file: purse, from: 'this.#sent = null\n    this.#isStale = true', to: 'this.#sent = null' },
  { file: purse, from: 'if (this.#total !== this.#reported ||', to: 'if (' },
  { file: purse, from: 'return now - this.#confirmedAt > renewalPeriod', to: 'return false' },
  { file: purse, from: 'this.isEmpty && this.#isKnown && now', to: 'now' },
  { file: purse, from: 'this.#atRisk -= atRisk', to: '' },
  { file: purse, from: 'this.#atRisk += change', to: '' },
  { file: holder, from: 'purse.hold(amounts[i]!, now)\n      return', to: 'now\n      return' },
  { file: holder, from: "whenUnreachable === 'closed'", to: 'false' },
  { file: holder, from: 'if (!purse.canDraw(amounts[i]!, now)) isNear = true', to: '' },
  { file: holder, from: 'for (const purse of purses) purse.lose()', to: '' },
  { file: holder, from: 'account.isOut = false', to: '' },
  { file: reservation, from: 'if (this.#isSettled) return\n    this.#isSettled', to: 'this.#isSettled' },
  {
    file: reservation,
    from: 'if (this.#isSettled) this.#purses[i]!.settle(',
    to: 'if (false) this.#purses[i]!.settle(',
  },
  { file: reservation, from: 'if (this.#atRisk !== null) this.#atRisk[i]! += amount', to: '' },
]

/** Files of which each mutation has copies of its own, by the number behind their names. */
const copied = /\/(?:src\/(?:budgets|store\/budget-ledger)|test\/help)\/[\w-]+\.ts$/
const marked = /\?mutation=(\d+)$/

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    const mark = marked.exec(context.parentURL ?? '')?.[0]
    return mark !== undefined && copied.test(resolved.url)
      ? { ...resolved, url: resolved.url + mark }
      : resolved
  },
  load(url, context, next) {
    const loaded = next(url, context)
    const number = marked.exec(url)?.[1]
    if (number === undefined) return loaded
    const { file, from, to } = mutations[Number(number)]!
    if (!url.startsWith(`${pathToFileURL(join(root, file))}?`)) return loaded
    const [before, after, ...others] = Buffer.from(loaded.source as Uint8Array)
      .toString()
      .split(from)
    if (after === undefined || others.length > 0)
      throw new Error(`${file} has not one ${JSON.stringify(from)}`)
    return { ...loaded, source: before + to + after }
  },
})

interface Finding {
  readonly seed: number
  readonly fault: string
}

/** Returns the first schedule that finds a mutation; null if none does. */
export async function findingOf(number: number, schedules: number): Promise<Finding | null> {
  const mutated: { simulate: typeof simulate } = await import(`./budget-schedule.ts?mutation=${number}`)
  for (let seed = 1; seed <= schedules; seed++) {
    const [fault] = (await mutated.simulate(seed)).faults
    if (fault !== undefined) return { seed, fault }
  }
  return null
}
