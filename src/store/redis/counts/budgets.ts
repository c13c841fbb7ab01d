// Budgets in Redis, by the clock of the server: a hash for each bucket, which expires. A sorted set per
// account has its buckets by expiry.

import { bucketReach, bucketWidth } from '../../../base/sliding-window.ts'
import type { Clock } from '../../../base/clock.ts'
import { type BucketAccount, emptyAccount, readAccount } from '../../budget-ledger/ledger.ts'
import type { BudgetEntry, Budgets } from '../../contract/budgets.ts'
import type {
  BudgetBucket,
  BudgetReply,
  BudgetState,
  BudgetStep,
  BudgetSum,
  BudgetWindow,
  Leaving,
} from '../../records/budget.ts'
import { listAll, readSome, resetOne, restoreSome, takeStep } from './budget-scripts.ts'
import { shiftOf } from '../server/clock.ts'
import type { Argument } from '../server/connect.ts'
import type { Connection, Reader } from '../server/connection.ts'
import type { DurableWrites } from '../server/durability.ts'
import { keys } from '../server/keys.ts'

type State = readonly [
  fits: number,
  amount: number,
  leased: number,
  spent: number,
  wait: number | null,
  /** Amounts, each with the ms until it leaves. */
  leaving: readonly number[],
]
/** The fields of a hash, and their texts in the same order. */
type Hash = readonly [fields: readonly string[], texts: readonly string[]]

const readStep = 100

interface Links {
  readonly reader: Reader
  readonly writes: Pick<DurableWrites, 'run'>
  /** The one that the writes use. */
  readonly connection: Pick<Connection, 'isUnreachable'>
}

export class RedisBudgets implements Budgets {
  readonly #links: Links
  readonly #clock: Clock

  constructor(links: Links, clock: Clock) {
    this.#links = links
    this.#clock = clock
  }

  get isUnreachable(): boolean {
    return this.#links.connection.isUnreachable
  }

  async step({ account, sequence, lease, lines }: BudgetStep): Promise<BudgetReply> {
    const homes = [keys.budgets(account), ...lines.map(({ bucket }) => keys.budget(account, bucket))]
    const args = lines.flatMap(({ bucket, window, share, limit, total, confirmed, ...rest }) => [
      ...[bucket, ...windowArguments(window)],
      ...[share, limit, total, confirmed, rest.keep, rest.ifLost, rest.need, rest.want],
    ])
    const reply = await this.#links.writes.run(takeStep, homes, [
      shiftOf(this.#clock),
      sequence,
      lease,
      ...args,
    ])
    const [isGranted, ...states] = reply as [number, ...State[]]
    return { isGranted: isGranted === 1, states: states.map((state, i) => stateOf(state, lines[i]!)) }
  }

  async read(account: string, buckets: readonly BudgetBucket[]): Promise<readonly BudgetSum[]> {
    const names = buckets.map(({ bucket }) => bucket)
    const { accounts, now } = await this.#read(account, names)
    return buckets.map(({ bucket, window }, i) => ({ bucket, ...readAccount(accounts[i]!, window, now) }))
  }

  async reset(account: string, { bucket, window }: BudgetBucket): Promise<void> {
    const homes = [keys.budgets(account), keys.budget(account, bucket)]
    const args = [shiftOf(this.#clock), bucket, ...windowArguments(window)]
    await this.#links.writes.run(resetOne, homes, args)
  }

  async *entries(account: string): AsyncGenerator<readonly BudgetEntry[]> {
    const words = (await this.#links.reader.script(listAll, [keys.budgets(account)], [])) as string[]
    for (let from = 0; from < words.length; from += 2 * readStep) {
      const some = words.slice(from, from + 2 * readStep)
      const names = some.filter((_, i) => i % 2 === 0)
      const ends = some.filter((_, i) => i % 2 === 1)
      const { accounts, now } = await this.#read(account, names)
      const entries = accounts.map((one, i) => ({ bucket: names[i]!, endsAt: Number(ends[i]), ...one }))
      yield entries.filter(({ endsAt }) => endsAt > now)
    }
  }

  async restore(account: string, entries: readonly BudgetEntry[]): Promise<void> {
    if (entries.length === 0) return
    const homes = [keys.budgets(account), ...entries.map(({ bucket }) => keys.budget(account, bucket))]
    const args = entries.flatMap(entry => {
      const fields = fieldsOf(entry)
      return [entry.bucket, entry.endsAt, fields.length, ...fields.flat()]
    })
    await this.#links.writes.run(restoreSome, homes, [shiftOf(this.#clock), ...args])
  }

  async #read(account: string, buckets: readonly string[]) {
    if (buckets.length === 0) return { accounts: [], now: 0 }
    const homes = buckets.map(bucket => keys.budget(account, bucket))
    const reply = await this.#links.reader.script(readSome, homes, [shiftOf(this.#clock)])
    const [now, ...hashes] = reply as [number, ...Hash[]]
    return { accounts: hashes.map(accountIn), now }
  }
}

/** Returns kind, end or width of slots, and their reach. */
function windowArguments(window: BudgetWindow): readonly Argument[] {
  const { kind } = window
  if (kind === 'sliding') return [kind, bucketWidth(window.period), bucketReach(window.period)]
  return [kind, kind === 'fixed' ? window.until : 0, 0]
}

function stateOf([fits, amount, leased, spent, wait, pairs]: State, { window }: BudgetBucket): BudgetState {
  const state = { fits: fits === 1, amount, leased, spent, wait }
  if (fits === 1 || window.kind !== 'sliding') return state
  const leaving: Leaving[] = []
  for (let i = 0; i < pairs.length; i += 2) leaving.push([pairs[i]!, pairs[i + 1]!])
  return { ...state, leaving }
}

/** Parses what `fieldsOf` writes. */
function accountIn([fields, texts]: Hash): BucketAccount {
  const account = emptyAccount()
  for (const [i, field] of fields.entries()) {
    const [first = 0, amount = 0, ifLost = 0, expiresAt = 0, keptUntil = 0, sequence = 0, slot, charged] =
      texts[i]!.split(' ').map(Number)
    if (field.startsWith('s')) account.slots.push([Number(field.slice(1)), first])
    else
      account.shares[field.slice(1)] = {
        ...{ reported: first, amount, ifLost, expiresAt, keptUntil, sequence },
        charged: slot === undefined ? null : [slot, charged!],
      }
  }
  account.slots.sort(([one], [other]) => one - other)
  return account
}

function fieldsOf({ slots, shares }: BucketAccount): readonly (readonly [field: string, text: string])[] {
  return [
    ...slots.map(([slot, spent]) => [`s${slot}`, String(spent)] as const),
    ...Object.entries(shares).map(([name, share]) => {
      const { reported, amount, ifLost, expiresAt, keptUntil, sequence, charged } = share
      const parts = [reported, amount, ifLost, expiresAt, keptUntil, sequence, ...(charged ?? [])]
      return [`h${name}`, parts.join(' ')] as const
    }),
  ]
}
