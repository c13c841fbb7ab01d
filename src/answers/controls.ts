// What is said about the reuse of responses for one call.

import type { Reading } from '../base/text/quantity.ts'

/** Bounds of the time for which a response is reused: seconds, up to 31 days. */
export const minTtl = 60
export const maxTtl = 31 * 86_400

export interface CacheControls {
  /** Seconds. */
  readonly ttl: number
  readonly isSkipped: boolean
  /** Of the caller, in the place of the body; null for none. */
  readonly key: string | null
}

/** Reads whole seconds. */
export function readTtl(text: string): Reading<number> {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1
  if (value >= minTtl && value <= maxTtl) return { value }
  return { flaw: `must be a whole number from ${minTtl} to ${maxTtl}` }
}

export function readSkip(text: string): Reading<boolean> {
  if (text === 'true' || text === 'false') return { value: text === 'true' }
  return { flaw: 'must be true or false' }
}

export function readKey(text: string): Reading<string> {
  return /^[!-~]{1,256}$/.test(text) ? { value: text } : { flaw: 'must be 1 to 256 visible ASCII characters' }
}
