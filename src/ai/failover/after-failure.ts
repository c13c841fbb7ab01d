// What follows a failed attempt of a call.

export interface FailedAttempt {
  /** This one included, and how many the call may make. */
  readonly attempts: number
  readonly maxAttempts: number
  readonly retries: number
  readonly hasNext: boolean
  /** Ms of the attempt, and after how many none is followed by another; 0 for any. */
  readonly duration: number
  readonly retryWithin: number
  /** Ms until the first content. */
  readonly timeLeft: number
  /** Ms for which the provider asked to wait; null if it did not. */
  readonly wait: number | null
  /** Ms before another attempt at the same model. */
  readonly delay: number
}

/** Ms for which a call waits for the same model at most. */
export const maxDelay = 5000

type NextAttempt =
  | { readonly type: 'retry'; readonly delay: number }
  | { readonly type: 'next' }
  | { readonly type: 'stop' }

/** Another model is asked at once; the same one after the delay of its provider, if that is short. */
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

/** Ms before a further attempt; `retry` counts from 1. */
export function delayOf(retry: number, delay: number, backoff: Backoff): number {
  const factor = backoff === 'constant' ? 1 : backoff === 'linear' ? retry : 2 ** (retry - 1)
  return Math.min(delay * factor, maxDelay)
}
