// How often a password or code may be guessed: 5 times a user and 20 times an address in 10 minutes, counted in the store, whether or not there is such a user.

import { hash } from 'node:crypto'
import { clientKey } from '../../net/address/client-key.ts'
import type { CounterReply, Counters } from '../../store/contract/store.ts'

const period = 600_000 // ms
const mostOfUser = 5
const mostOfAddress = 20
/** An office of people may share an address. */
const mostBegun = 100

/** What became of an attempt: how to take it back because it was right, or when to come again. */
type Attempt = { readonly forgive: () => Promise<void> } | Throttled

/** When to come again, and of whom there were too many. */
export interface Throttled {
  readonly retryAfter: number // seconds
  readonly of: 'address' | 'user'
}

export class Throttle {
  readonly #counters: Counters

  constructor(counters: Counters) {
    this.#counters = counters
  }

  /**
   * Counts an attempt before it is looked at, so that many at once are no way round; else `retryAfter`, in whole seconds. Rejects with `StoreUnreachable` while
   * nothing can be counted: then nothing may be guessed.
   */
  async attempt(email: string, address: string): Promise<Attempt> {
    const ofAddress = `sign-in from ${clientKey(address)}`
    // The address of a person stands in no key.
    const ofUser = `sign-in of ${hash('sha256', email)}`
    const first = await this.#spend(ofAddress, mostOfAddress)
    if (first.granted === 0) return { retryAfter: seconds(first.wait), of: 'address' }
    const second = await this.#spend(ofUser, mostOfUser)
    if (second.granted === 0) {
      await this.#giveBack(ofAddress, mostOfAddress)
      return { retryAfter: seconds(second.wait), of: 'user' }
    }
    const forgive = async () => {
      await Promise.all([this.#giveBack(ofAddress, mostOfAddress), this.#giveBack(ofUser, mostOfUser)])
    }
    return { forgive }
  }

  /** Whether nobody was told yet, in this period, that there were too many attempts of a user. */
  async isFirstToTell(user: string): Promise<boolean> {
    return (await this.#spend(`sign-in told of ${user}`, 1)).granted > 0
  }

  /** Counts a sign-up: null, or the seconds until one more is granted. */
  signUp(address: string): Promise<number | null> {
    return this.#count(`sign-in from ${clientKey(address)}`, mostOfAddress)
  }

  /** Counts a way to the provider, of which the store keeps something before anybody is known: null, or the seconds until one more is granted. */
  toProvider(address: string): Promise<number | null> {
    return this.#count(`sign-in begun from ${clientKey(address)}`, mostBegun)
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
