// Limits guesses in the store: 5 per user, existing or not, and 20 per address, in 10 minutes.

import { hash } from 'node:crypto'
import { clientKey } from '../../net/address/client-key.ts'
import type { CounterReply, Counters } from '../../store/contract/store.ts'

const period = 600_000 // ms
const maxOfUser = 5
const maxOfAddress = 20
/** People in an office may share an address. */
const maxBegun = 100

/** A permitted attempt, with a function that takes it back because it was right; or when to retry. */
type Attempt = { readonly forgive: () => Promise<void> } | Throttled

/** When to retry, and whether the user or the address had too many attempts. */
export interface Throttled {
  readonly retryAfter: number // seconds
  readonly of: 'address' | 'user'
}

export class Throttle {
  readonly #counters: Counters

  constructor(counters: Counters) {
    this.#counters = counters
  }

  /** Counts an attempt before its check, against races. Rejects with `StoreUnreachable`: no guesses then. */
  async attempt(email: string, address: string): Promise<Attempt> {
    const ofAddress = `sign-in from ${clientKey(address)}`
    // No key contains a person's address.
    const ofUser = `sign-in of ${hash('sha256', email)}`
    const first = await this.#spend(ofAddress, maxOfAddress)
    if (first.granted === 0) return { retryAfter: seconds(first.wait), of: 'address' }
    const second = await this.#spend(ofUser, maxOfUser)
    if (second.granted === 0) {
      await this.#giveBack(ofAddress, maxOfAddress)
      return { retryAfter: seconds(second.wait), of: 'user' }
    }
    const forgive = async () => {
      await Promise.all([this.#giveBack(ofAddress, maxOfAddress), this.#giveBack(ofUser, maxOfUser)])
    }
    return { forgive }
  }

  /** Counts an attempt of somebody who has not said who they are. Rejects with `StoreUnreachable`, too. */
  async attemptFrom(address: string): Promise<Attempt> {
    const key = `sign-in from ${clientKey(address)}`
    const { granted, wait } = await this.#spend(key, maxOfAddress)
    if (granted === 0) return { retryAfter: seconds(wait), of: 'address' }
    return { forgive: () => this.#giveBack(key, maxOfAddress) }
  }

  async isFirstToTell(user: string): Promise<boolean> {
    return (await this.#spend(`sign-in told of ${user}`, 1)).granted > 0
  }

  /** Counts a sign-up: null, or the seconds to wait. */
  signUp(address: string): Promise<number | null> {
    return this.#count(`sign-in from ${clientKey(address)}`, maxOfAddress)
  }

  /** Counts a redirect to the provider, which costs a record: null, or the seconds to wait. */
  toProvider(address: string): Promise<number | null> {
    return this.#count(`sign-in begun from ${clientKey(address)}`, maxBegun)
  }

  async #count(key: string, limit: number): Promise<number | null> {
    const { granted, wait } = await this.#spend(key, limit)
    return granted > 0 ? null : seconds(wait)
  }

  #spend(key: string, limit: number): Promise<CounterReply> {
    return this.#counters.spend({ key, window, limit, done: 0, wanted: 1 })
  }

  async #giveBack(key: string, limit: number): Promise<void> {
    await this.#counters.spend({ key, window, limit, done: -1, wanted: 0 })
  }
}

const window = { kind: 'sliding', period } as const

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000))
}
