// When to retry and to renew, in ms since the epoch; random, so that hosts do not ask all at once.

import type { RenewalTime } from '../../store/records/acme.ts'
import type { RenewalInfo } from './authority.ts'

interface Life {
  readonly notBefore: number
  readonly notAfter: number
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Ms, doubled each time: five attempts an hour are as much as the strictest public authority allows. */
const firstPause = 2 * minute
const maxPause = 6 * hour

/** Ms, whatever the authority says. */
export const maxWait = day

/** Ms between two requests for the renewal window (RFC 9773 section 4.3.2), and its bounds. */
const defaultAsk = 6 * hour
const minAsk = minute
const maxAsk = day

/** Parts of its life: when a certificate is renewed, and how far renewals are spread before that. */
const renewedAt = 2 / 3
const spread = 1 / 30

/** Ms or part of the life: the earliest renewal after the issue, and the latest before expiry. */
const minAge = hour
const reserve = 1 / 10

/** In ms, plus or minus a tenth. */
export function pauseAfter(failures: number, random: () => number): number {
  const pause = Math.min(maxPause, firstPause * 2 ** (failures - 1))
  return Math.round(pause * (0.9 + 0.2 * random()))
}

/** Returns 0 for a time beyond any possible delay, which was written by a wrong clock. */
export function restOf(until: number | null, now: number): number {
  return until === null || until - now > maxWait ? 0 : until
}

/** For an authority without renewal windows. */
export function renewalOf({ notBefore, notAfter }: Life, now: number, random: () => number): RenewalTime {
  const life = notAfter - notBefore
  const at = Math.round(notBefore + life * (renewedAt - spread * random()))
  return bounded({ at, askAt: now, window: null }, { notBefore, notAfter }, now)
}

/** Bounds a renewal time: an authority may always want a renewal now, or one too late. */
export function bounded(renewal: RenewalTime, { notBefore, notAfter }: Life, issuedAt: number): RenewalTime {
  const part = (notAfter - notBefore) * reserve
  const earliest = issuedAt + Math.min(minAge, part)
  return { ...renewal, at: Math.round(Math.max(earliest, Math.min(notAfter - part, renewal.at))) }
}

/** The time stays the same as long as the window does. */
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

export function afterSilence(before: RenewalTime, now: number, random: () => number): RenewalTime {
  return { ...before, askAt: now + Math.round(hour * (0.5 + random())) }
}
