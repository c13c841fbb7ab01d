// When to retry, and when to renew. Random parts keep hosts and gateways from asking all at once. Times are
// ms since the epoch.

import type { RenewalTime } from '../../store/records/acme.ts'
import type { RenewalInfo } from './authority.ts'

/** The period of validity of a certificate. */
interface Life {
  readonly notBefore: number
  readonly notAfter: number
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/**
 * Delay after the first failure, in ms; each further one doubles it. Five attempts fit into the first hour,
 * which is as much as the strictest public authority allows.
 */
const firstPause = 2 * minute
const maxPause = 6 * hour

/** The maximum delay for a host, in ms, whatever its authority says. */
export const maxWait = day

/**
 * Delay between two requests for the renewal window if the authority does not specify it (RFC 9773 section
 * 4.3.2), and the bounds if it does, in ms.
 */
const defaultAsk = 6 * hour
const minAsk = minute
const maxAsk = day

/**
 * The share of its life after which a certificate is renewed, and the share over which renewals are spread
 * before that.
 */
const renewedAt = 2 / 3
const spread = 1 / 30

/**
 * No certificate is renewed within this time, in ms, or this part of its life, after it was issued, nor later
 * than that part before its expiry.
 */
const minAge = hour
const reserve = 1 / 10

/**
 * Returns the delay before the next attempt after a number of failures in a row, plus or minus a tenth, in
 * ms.
 */
export function pauseAfter(failures: number, random: () => number): number {
  const pause = Math.min(maxPause, firstPause * 2 ** (failures - 1))
  return Math.round(pause * (0.9 + 0.2 * random()))
}

/**
 * Returns until when to wait, 0 for not at all: a time beyond any possible delay was written by a wrong
 * clock.
 */
export function restOf(until: number | null, now: number): number {
  return until === null || until - now > maxWait ? 0 : until
}

/** Returns when to renew a certificate for which the authority provides no window. */
export function renewalOf({ notBefore, notAfter }: Life, now: number, random: () => number): RenewalTime {
  const life = notAfter - notBefore
  const at = Math.round(notBefore + life * (renewedAt - spread * random()))
  return bounded({ at, askAt: now, window: null }, { notBefore, notAfter }, now)
}

/**
 * Returns a renewal time that neither exhausts an authority which always wants it now nor comes too late for
 * one which never does.
 */
export function bounded(renewal: RenewalTime, { notBefore, notAfter }: Life, issuedAt: number): RenewalTime {
  const part = (notAfter - notBefore) * reserve
  const earliest = issuedAt + Math.min(minAge, part)
  return { ...renewal, at: Math.round(Math.max(earliest, Math.min(notAfter - part, renewal.at))) }
}

/**
 * Returns the renewal time within the authority's window, which stays the same as long as the window does.
 */
export function afterInfo(
  before: RenewalTime,
  info: RenewalInfo | null,
  now: number,
  random: () => number,
): RenewalTime {
  if (info === null) return { ...before, askAt: now + maxAsk }
  const { window, retryAfter } = info
  const askAt = now + Math.min(maxAsk, Math.max(minAsk, retryAfter ?? defaultAsk))
  const isSame = before.window?.start === window.start && before.window.end === window.end
  if (isSame) return { ...before, askAt }
  return { at: Math.round(window.start + (window.end - window.start) * random()), askAt, window }
}

/** Returns the renewal time after the authority could not be asked. */
export function afterSilence(before: RenewalTime, now: number, random: () => number): RenewalTime {
  return { ...before, askAt: now + Math.round(hour * (0.5 + random())) }
}
