// A store whose steps the ledger takes, on a network that loses, delays and repeats what it carries.

import {
  type BucketAccount,
  emptyAccount,
  endOfAccount,
  resetAccount,
  shortRemembrance,
  takeStep,
} from '../../src/store/budget-ledger/ledger.ts'
import type { BudgetBucket, BudgetReply, BudgetStep } from '../../src/store/records/budget.ts'
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

type Place = Pick<Spending, 'key'>

export class SimulatedStore {
  readonly #accounts = new Map<string, BucketAccount>()
  /** When accounts are forgotten. */
  readonly #ends = new Map<string, number>()
  /** When processes were last heard of a budget. */
  readonly #heard = new Map<string, Map<string, number>>()
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

  /** Whether a step comes so late that one of its shares is forgotten. */
  isTooLate({ step, sentAt }: Message, now: number): boolean {
    const isForgotten = ({ bucket, share }: BudgetStep['lines'][number]) => {
      const { shares } = this.accountOf({ key: `${step.account}/${bucket}` })
      return !(now < (shares[share]?.keptUntil ?? 0))
    }
    return now - sentAt > shortRemembrance && step.lines.some(isForgotten)
  }

  /** Takes a step as JSON, which is all that a store has. */
  take(message: Message, now: number): void {
    const { from, step } = message
    const { account, lines, lease, sequence } = step
    this.lease = lease
    const keys = lines.map(({ bucket }) => `${account}/${bucket}`)
    for (const [i, key] of keys.entries()) this.#forgetOver(key, lines[i]!, now)
    const accounts = lines.map(({ share }, i) => {
      const own = copyOf(this.#accounts.get(keys[i]!) ?? emptyAccount())
      if ((own.shares[share]?.sequence ?? -1) < sequence) this.#hear(keys[i]!, from, now)
      return own
    })
    message.reply = takeStep(accounts, step, now)
    for (const [i, key] of keys.entries()) {
      this.#accounts.set(key, accounts[i]!)
      this.#ends.set(key, endOfAccount(accounts[i]!, lines[i]!.window, now))
    }
  }

  reset(of: Spending, now: number): void {
    const account = this.#accounts.get(of.key)
    if (account === undefined) return
    resetAccount(account, of.window, now)
    this.#ends.set(of.key, endOfAccount(account, of.window, now))
  }

  accountOf({ key }: Place): BucketAccount {
    return this.#accounts.get(key) ?? emptyAccount()
  }

  /** Ms; negative infinity for never. */
  heardAt({ key }: Place, program: string): number {
    return this.#heard.get(key)?.get(program) ?? Number.NEGATIVE_INFINITY
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

  /** What is said of a fixed window that is over counts nowhere, but schedules add it up. */
  #forgetOver(key: string, { window }: BudgetBucket, now: number): void {
    if (window.kind === 'fixed' && window.until <= now) return
    if ((this.#ends.get(key) ?? now) <= now) this.#accounts.delete(key)
  }

  #hear(key: string, { name }: Program, now: number): void {
    const heard = this.#heard.get(key)
    if (heard === undefined) this.#heard.set(key, new Map([[name, now]]))
    else heard.set(name, now)
  }
}

function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}
