// What follows a failed attempt of a call. Everything is decided here, from what is known; nothing is done
// here.

/** What is known when an attempt has failed. */
export interface FailedAttempt {
  /** The attempts so far, this one included, and how many the call may make. */
  readonly attempts: number
  readonly maxAttempts: number
  /** Further attempts that the route allows at the same model. */
  readonly retries: number
  /** Whether another model could take the call. */
  readonly hasNext: boolean
  /** How long the attempt took, in ms, and after how long none is followed by another; 0 for any time. */
  readonly duration: number
  readonly retryWithin: number
  /** Ms that the call has left until its first content. */
  readonly timeLeft: number
  /** Ms for which the provider asked to wait; null if it did not. */
  readonly wait: number | null
  /** Ms before another attempt at the same model. */
  readonly delay: number
}

/** A call waits for the same model no longer than this, in ms. */
export const maxDelay = 5000

type NextAttempt =
  | { readonly type: 'retry'; readonly delay: number }
  | { readonly type: 'next' }
  | { readonly type: 'stop' }

/**
 * Decides whether the same model is tried again, or the next one, or the failure is final. Another model is
 * asked at once; the same one is given the time for which its provider asked, if that is short.
 */
export function afterFailure(failed: FailedAttempt): NextAttempt {
  const { attempts, maxAttempts, retries, hasNext, duration, retryWithin, timeLeft } = failed
  if (attempts >= maxAttempts || timeLeft <= 0) return stop
  if (retryWithin > 0 && duration > retryWithin) return stop
  const delay = Math.max(failed.delay, failed.wait ?? 0)
  if (retries > 0 && delay <= maxDelay && delay < timeLeft) return { type: 'retry', delay }
  return hasNext ? next : stop
}

const stop: NextAttempt = { type: 'stop' }
const next: NextAttempt = { type: 'next' }

export const backoffs = ['constant', 'linear', 'exponential'] as const
export type Backoff = (typeof backoffs)[number]

/** Returns the delay before a further attempt at a model, in ms; `retry` counts from 1. */
export function delayOf(retry: number, delay: number, backoff: Backoff): number {
  const factor = backoff === 'constant' ? 1 : backoff === 'linear' ? retry : 2 ** (retry - 1)
  return Math.min(delay * factor, maxDelay)
}
