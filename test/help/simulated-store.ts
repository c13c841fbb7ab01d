// A store whose steps the ledger takes, on a network that loses, delays and repeats what it carries.

import {
  type BucketAccount,
  emptyAccount,
  resetAccount,
  takeStep,
} from '../../src/store/budget-ledger/ledger.ts'
import type { BudgetReply, BudgetStep } from '../../src/store/records/budget.ts'
import { type Call, type Program, programOf, type Spending } from './budget-truth.ts'

export interface Message {
  readonly from: Program
  readonly step: BudgetStep
  readonly sentAt: number
  /** The checkpoints that it says, by call: their places among those that the store may have. */
  readonly levels: Map<Call, number>
  reply: BudgetReply | null
  resolve: ((reply: BudgetReply) => void) | null
  reject: ((error: Error) => void) | null
}

type Place = Pick<Spending, 'account' | 'bucket'>

export class SimulatedStore {
  readonly #accounts = new Map<string, BucketAccount>()
  /** When a process was last heard of a budget. */
  readonly #heard = new Map<string, number>()
  readonly #alive = new Set<string>()
  /** Ms; that of all steps. */
  lease = 15_000

  start(program: string): void {
    this.#alive.add(program)
  }

  kill(program: string): void {
    this.#alive.delete(program)
  }

  isAlive(program: string): boolean {
    return this.#alive.has(program)
  }

  /** Takes a step as JSON, which is all that a store has. */
  take(message: Message, now: number): void {
    const { from, step } = message
    const { account, lines, lease, sequence } = copyOf(step)
    this.lease = lease
    const accounts = lines.map(({ bucket, share }) => {
      const own = copyOf(this.accountOf({ account, bucket }))
      const isNew = (own.shares[share]?.sequence ?? -1) < sequence
      if (isNew) this.#heard.set(`${account}/${bucket}/${from.name}`, now)
      return own
    })
    message.reply = copyOf(takeStep(accounts, { account, lines, lease, sequence }, now))
    for (const [i, { bucket }] of lines.entries()) this.#accounts.set(`${account}/${bucket}`, accounts[i]!)
  }

  reset(of: Spending, now: number): void {
    const account = this.#accounts.get(`${of.account}/${of.bucket}`)
    if (account !== undefined) resetAccount(account, of.window, now)
  }

  accountOf({ account, bucket }: Place): BucketAccount {
    return this.#accounts.get(`${account}/${bucket}`) ?? emptyAccount()
  }

  /** Ms; negative infinity for never. */
  heardAt({ account, bucket }: Place, program: string): number {
    return this.#heard.get(`${account}/${bucket}/${program}`) ?? Number.NEGATIVE_INFINITY
  }

  /** What is leased to processes, also by leases that have ended and were not charged yet. */
  leasedOf(place: Place, isOf: (program: string) => boolean): number {
    let leased = 0
    for (const [name, { amount }] of Object.entries(this.accountOf(place).shares))
      if (isOf(programOf(name))) leased += amount
    return leased
  }

  /** What processes were charged when their leases ended. */
  chargedOf(place: Place, isOf: (program: string) => boolean): number {
    let sum = 0
    for (const [name, { charged }] of Object.entries(this.accountOf(place).shares))
      if (isOf(programOf(name))) sum += charged?.[1] ?? 0
    return sum
  }
}

function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}
