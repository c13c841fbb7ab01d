// Measures what a step of three budgets costs on SQLite and Redis, in µs: one after the other, and 64 at once, which is near a limit and while shares are renewed.
// Usage: node bench/micro/budgets/step.ts [steps]
import type { TestContext } from 'node:test'
import { openStore } from '../../../src/store/open.ts'
import type { BudgetLine } from '../../../src/store/records/budget.ts'
import type { Budgets } from '../../../src/store/contract/budgets.ts'
import { startRedis } from '../../../test/help/redis.ts'
import { temporaryFile } from '../../../test/store/sqlite/temporary-file.ts'

const steps = Number(process.argv[2] ?? 2_000)
const rounds = 5
const atOnce = 64
const limit = Number.MAX_SAFE_INTEGER
/** Processes that have shares of the same buckets: many, and more than most have. */
const crowds = [4, 64]
const windows: readonly BudgetLine['window'][] = [
  { kind: 'fixed', until: Date.now() + 30 * 86_400_000 },
  // Short, so that it soon has all of its slots.
  { kind: 'sliding', period: 60_000 },
  { kind: 'none' },
]

const endings: (() => unknown)[] = []
const t = { after: (end: () => unknown) => void endings.unshift(end) } as TestContext
let sequence = 0

try {
  await measureAll('SQLite', `sqlite:${temporaryFile(t)}`)
  for (const aof of ['always', 'everysec', false] as const) {
    const name = aof ? `Redis, appendfsync ${aof}` : 'Redis, nothing on disk'
    await measureAll(name, (await startRedis(t, { aof })).url)
  }
} finally {
  for (const end of endings) await end()
}

async function measureAll(name: string, url: string): Promise<void> {
  const store = await openStore(url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  console.log(name)
  for (const crowd of crowds) {
    const account = `of ${crowd}`
    for (let i = 0; i < crowd; i++) await take(store.budgets, account, i)
    const count = await countAround(() => take(store.budgets, account, 0))
    const alone = await medianOf(async () => {
      for (let i = 0; i < count; i++) await take(store.budgets, account, i % crowd)
    })
    const together = await medianOf(async () => {
      for (let i = 0; i < steps; i += atOnce)
        await Promise.all(
          Array.from({ length: atOnce }, (_, one) => take(store.budgets, account, one % crowd)),
        )
    })
    const [one, each] = [(alone * 1_000) / count, (together * 1_000) / steps]
    console.log(
      `  ${String(crowd).padStart(2)} shares: ${one.toFixed(0).padStart(7)} µs alone, ${each.toFixed(0).padStart(7)} µs of ${atOnce} at once`,
    )
  }
}

/** Steps that are worth a second, at most all: those that wait for a disk are few. */
async function countAround(call: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await call()
  return Math.max(1, Math.min(steps, Math.floor(1_000 / (performance.now() - began))))
}

async function medianOf(work: () => Promise<void>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  return times.sort((a, b) => a - b)[rounds >> 1]!
}

function take(budgets: Budgets, account: string, of: number): Promise<unknown> {
  const lines = windows.map((window, i) => ({
    ...{ bucket: `b${i}`, window, limit, share: `p${of}.${i}` },
    ...{
      total: ++sequence,
      confirmed: sequence - 1,
      keep: 1_000_000,
      ifLost: 500_000,
      need: 1_000_000,
      want: 8_000_000,
    },
  }))
  return budgets.step({ account, sequence, lease: 15_000, lines })
}
