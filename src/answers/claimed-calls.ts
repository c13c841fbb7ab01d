// Calls with an Idempotency-Key, each of which one process makes once. What cannot be known is never guessed:
// without the store no call is made, and a call whose process has ended is not made again.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { LogThrottle } from '../log/log-throttle.ts'
import type { AnswerPlace, Claim } from '../store/answers/answer.ts'
import { type Store, StoreUnreachable } from '../store/contract/store.ts'

interface ClaimedCallsOptions {
  readonly store: Pick<Store, 'claims'>
  readonly clock: Clock
  readonly warnings: Pick<LogThrottle, 'warn'>
}

/** A call as the claim has it; `ray` is its own, which others are told. */
export interface CallOnce {
  readonly place: AnswerPlace
  /** Of the response, which only calls under the same guard get. */
  readonly answerPlace: AnswerPlace
  /** Stands for the token, or the user of an app, whose call it is. */
  readonly owner: string
  /** HMAC of what makes it the same call. */
  readonly fingerprint: string
  readonly ray: string
}

/**
 * What a key stands for already: `made`, a call whose response was stored, `broken`, one whose response broke
 * off or was too large, `lost`, one whose process has ended, `other`, another call.
 */
export interface EarlierCall {
  readonly kind: 'running' | 'made' | 'broken' | 'lost' | 'other'
  readonly ray: string
}

/** A call without a claim: `of` has made as many calls as it may. */
export interface NoClaim {
  readonly kind: 'full'
  readonly of: 'account' | 'owner'
  /** Ms since the epoch at which the first of them is forgotten. */
  readonly until: number
}

export type Claimed = HeldClaim | EarlierCall | NoClaim

/** Ms for which a key is remembered. */
export const lifetime = 86_400_000
/** The most calls with a key that an account makes within the lifetime, and one token or user of an app. */
export const maxClaims = 100_000
export const maxOfOwner = 20_000
/** Ms without a renewal after which a call counts as lost, and between two renewals. */
const lease = 15_000
const renewal = 5_000
/** Ms between two attempts to tell the store how a call has ended, and for how long there are any. */
const pause = 1_000
const patience = 600_000
/** Renewals, and ends, on their way to the store at a time: its queue has room for others, too. */
const lanes = 100

export class ClaimedCalls {
  readonly #options: ClaimedCallsOptions
  readonly #holder = randomBytes(12).toString('base64url')
  readonly #held = new Set<HeldClaim>()
  readonly #ends = new Set<Promise<void>>()
  /** Of ends, each the last attempt of it. */
  readonly #lanes: Promise<unknown>[] = Array(lanes).fill(Promise.resolve())
  #nextLane = 0
  #isRenewing = false
  #count = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: ClaimedCallsOptions) {
    this.#options = options
  }

  /** Rejects with `StoreUnreachable` if the store does not confirm it; the call must then not be made. */
  async claim(call: CallOnce): Promise<Claimed> {
    const { place, owner, fingerprint, ray } = call
    const { claims } = this.#options.store
    const held = new HeldClaim(this, call, `${this.#holder}.${++this.#count}`)
    const expiresAt = this.#options.clock.now() + lifetime
    const bounds = { maxClaims, maxOfOwner }
    const about = { owner, fingerprint, holder: held.holder, lease, expiresAt, note: `${ray} -` }
    try {
      const reply = await claims.claim({ ...place, ...about, ...bounds })
      if (reply.outcome === 'taken') return earlier(reply.claim, fingerprint)
      if (reply.outcome === 'full') return { kind: 'full', of: reply.of, until: reply.until }
    } catch (error) {
      // It may be there all the same, and would then count as lost.
      if (error instanceof StoreUnreachable && !error.isUndone) this.#endLater(held, 'released')
      throw error
    }
    this.#held.add(held)
    this.#timer ??= setInterval(() => void this.#renewAll(), renewal).unref()
    return held
  }

  /** Null if the key stands for nothing any more. Rejects with `StoreUnreachable`. */
  async look({ place, fingerprint }: CallOnce): Promise<EarlierCall | null> {
    const claim = await this.#options.store.claims.look(place)
    return claim === null ? null : earlier(claim, fingerprint)
  }

  /** Waits until the store knows how calls have ended, as far as it can be reached. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await Promise.all(this.#ends)
  }

  end(held: HeldClaim, how: End): void {
    if (this.#held.delete(held)) this.#endLater(held, how)
    if (this.#held.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #endLater(held: HeldClaim, how: End): void {
    const ending = this.#endOne(held, how)
    this.#ends.add(ending)
    void ending.finally(() => this.#ends.delete(ending))
  }

  /** Stores how a call has ended, and renews its claim until then. */
  async #endOne({ call, holder }: HeldClaim, how: End): Promise<void> {
    const { store, clock, warnings } = this.#options
    const { claims } = store
    const until = clock.monotonic() + patience
    for (;;) {
      try {
        await this.#inLane(() =>
          how === 'released'
            ? claims.release(call.place, holder)
            : claims.settle(call.place, holder, `${call.ray} ${how}`),
        )
        return
      } catch (err) {
        if (!(err instanceof StoreUnreachable)) throw err
        warnings.warn(
          'claim',
          { err, ray: call.ray },
          'the end of a call with an Idempotency-Key was not stored',
        )
      }
      if (this.#isClosed || clock.monotonic() > until) return
      await new Promise(resolve => setTimeout(resolve, pause).unref())
    }
  }

  #inLane(work: () => Promise<unknown>): Promise<unknown> {
    const lane = this.#nextLane
    this.#nextLane = (lane + 1) % lanes
    const attempt = this.#lanes[lane]!.then(work)
    this.#lanes[lane] = attempt.catch(() => {})
    return attempt
  }

  async #renewAll(): Promise<void> {
    if (this.#isRenewing) return
    this.#isRenewing = true
    try {
      const all = [...this.#held]
      for (let from = 0; from < all.length; from += lanes)
        await Promise.all(all.slice(from, from + lanes).map(held => this.#renew(held)))
    } finally {
      this.#isRenewing = false
    }
  }

  async #renew(held: HeldClaim): Promise<void> {
    if (!this.#held.has(held)) return
    try {
      await this.#options.store.claims.renew(held.call.place, held.holder, lease)
    } catch (err) {
      if (!(err instanceof StoreUnreachable)) throw err
    }
  }
}

/** `made`: the response is stored. `released`: surely nothing was done. */
type End = 'made' | 'broken' | 'released'

/** The right to make a call; ends once. */
export class HeldClaim {
  readonly kind = 'held'
  readonly call: CallOnce
  readonly holder: string
  readonly #calls: ClaimedCalls

  constructor(calls: ClaimedCalls, call: CallOnce, holder: string) {
    this.#calls = calls
    this.call = call
    this.holder = holder
  }

  end(how: End): void {
    this.#calls.end(this, how)
  }
}

function earlier({ state, fingerprint, note }: Claim, own: string): EarlierCall {
  const [ray = '', how] = note.split(' ')
  if (fingerprint !== own) return { kind: 'other', ray }
  if (state !== 'done') return { kind: state, ray }
  return { kind: how === 'made' ? 'made' : 'broken', ray }
}
