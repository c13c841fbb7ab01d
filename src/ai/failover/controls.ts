// What a caller may say about the attempts of one call.

import type { Reading } from '../../base/text/quantity.ts'
import { type Backoff, backoffs, maxDelay } from './after-failure.ts'

/** Null for what the caller leaves to the gateway. */
export interface Controls {
  /** Ms until the first content. */
  readonly timeout: number | null
  readonly maxAttempts: number | null
  /** Ms before a further attempt at the same model. */
  readonly delay: number | null
  readonly backoff: Backoff | null
}

const maxTimeout = 3_600_000
/** The maximum of attempts of a call. */
export const maxAttempts = 5

/** Whole ms to the first content. */
export function readTimeout(text: string): Reading<number> {
  return readWhole(text, 1, maxTimeout)
}

export function readMaxAttempts(text: string): Reading<number> {
  return readWhole(text, 1, maxAttempts)
}

export function readDelay(text: string): Reading<number> {
  return readWhole(text, 0, maxDelay)
}

export function readBackoff(text: string): Reading<Backoff> {
  const value = backoffs.find(backoff => backoff === text)
  return value !== undefined ? { value } : { flaw: 'must be constant, linear or exponential' }
}

function readWhole(text: string, min: number, max: number): Reading<number> {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1
  if (value >= min && value <= max) return { value }
  return { flaw: `must be a whole number from ${min} to ${max}` }
}
