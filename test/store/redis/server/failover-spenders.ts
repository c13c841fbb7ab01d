// Processes that spend from budgets whatever happens to the servers, and what they were promised meanwhile.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Store, StoreUnreachable } from '../../../../src/store/contract/store.ts'
import type { BudgetBucket } from '../../../../src/store/records/budget.ts'
import { keys } from '../../../../src/store/redis/server/keys.ts'
import type { RedisServer } from '../../../help/redis.ts'
import { hex } from '../../contract-specimens.ts'

const window = { kind: 'fixed', until: 4_000_000_000_000 } as const
const spent: BudgetBucket = { bucket: 'spent', window }
const held: BudgetBucket = { bucket: 'held', window: { kind: 'none' } }
/** Of `held`, for all together. */
const limit = 100
/** Ms: longer than any test. */
const lease = 600_000
const nothing = { total: 0, confirmed: 0, keep: 0, ifLost: 0, need: 0, want: 0 }

interface Spender {
  readonly share: string
  sequence: number
  total: number
  confirmed: number
  granted: number
}

export class FailoverSpenders {
  readonly #stores: readonly Store[]
  readonly #account = hex(16)
  #all: readonly Spender[] = []
  #goesOn = true
  #ends: Promise<unknown> = Promise.resolve()

  constructor(stores: readonly Store[]) {
    this.#stores = stores
  }

  get confirmed(): number {
    return sum(this.#all.map(({ confirmed }) => confirmed))
  }

  get granted(): number {
    return sum(this.#all.map(({ granted }) => granted))
  }

  start(count: number): void {
    this.#all = Array.from({ length: count }, () => {
      return { share: hex(9), sequence: 0, total: 0, confirmed: 0, granted: 0 }
    })
    this.#ends = Promise.all(
      this.#all.map((one, i) => this.#goOn(this.#stores[i % this.#stores.length]!, one)),
    )
  }

  async stop(): Promise<void> {
    this.#goesOn = false
    await this.#ends
  }

  /** Asserts that a server has all that was confirmed, and that no more was granted than there is. */
  async expectAll(server: RedisServer): Promise<void> {
    const slots = await fieldsOf(server, keys.budget(this.#account, spent.bucket), 's')
    const counted = sum(slots.map(([amount]) => Number(amount)))
    const totals = sum(this.#all.map(({ total }) => total))
    assert.ok(counted >= this.confirmed, `${counted} are counted, and ${this.confirmed} confirmed`)
    assert.ok(counted <= totals, `${counted} are counted, and ${totals} spent`)
    const shares = await fieldsOf(server, keys.budget(this.#account, held.bucket), 'h')
    const leased = sum(shares.map(([, amount]) => Number(amount)))
    assert.ok(leased >= this.granted, `${leased} are leased, and ${this.granted} granted`)
    assert.ok(leased <= limit, `${leased} of ${limit} are leased`)
  }

  async #goOn(store: Store, one: Spender): Promise<void> {
    while (this.#goesOn) {
      try {
        await this.#spend(store, one)
      } catch (error) {
        if (!(error instanceof StoreUnreachable)) throw error
      }
      await sleep(5)
    }
  }

  /** Spends one more, and has one more granted now and then. */
  async #spend(store: Store, one: Spender): Promise<void> {
    const total = ++one.total
    const isGreedy = total % 5 === 0
    const { share, confirmed, granted: keep } = one
    const { isGranted } = await store.budgets.step({
      ...{ account: this.#account, sequence: ++one.sequence, lease },
      lines: [
        { ...spent, ...nothing, limit: 1_000_000_000, share, total, confirmed },
        { ...held, ...nothing, limit, share, keep, ifLost: keep, need: isGreedy ? 1 : 0 },
      ],
    })
    // A step that is refused says what was spent all the same.
    one.confirmed = total
    if (isGranted && isGreedy) one.granted++
  }
}

/** Returns the words of the fields of a bucket that begin with a letter. */
async function fieldsOf(server: RedisServer, key: string, letter: 's' | 'h'): Promise<readonly string[][]> {
  const flat = (await server.ask('HGETALL', key)) as string[]
  return flat.filter((_, i) => i % 2 === 1 && flat[i - 1]!.startsWith(letter)).map(text => text.split(' '))
}

function sum(all: readonly number[]): number {
  return all.reduce((sum, one) => sum + one, 0)
}
