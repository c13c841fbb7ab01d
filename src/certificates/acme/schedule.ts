// When to try again, and when to renew. Random parts keep hosts and gateways from asking all at once. Times are ms since the epoch.

import type { RenewalTime } from '../../store/records/acme.ts'
import type { RenewalInfo } from './authority.ts'

/** From when and until when a certificate is valid. */
interface Life {
  readonly notBefore: number
  readonly notAfter: number
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Ms after the first failure; each further one doubles them. Five attempts fit into the first hour, which is as much as the strictest public authority allows. */
const firstPause = 2 * minute
const longestPause = 6 * hour

/** Ms for which a host waits at most, whatever its authority says. */
export const longestWait = day

/** Ms between two questions for the window of a renewal, where the authority does not say (RFC 9773 section 4.3.2), and its bounds where it does. */
const usualAsk = 6 * hour
const leastAsk = minute
const longestAsk = day

/** The share of its life after which a certificate is renewed, and up to which share before that. */
const renewedAt = 2 / 3
const spread = 1 / 30

/** No certificate is renewed before so many ms, or the part of its life, have passed since it was issued, nor later than that part before its end. */
const leastAge = hour
const reserve = 1 / 10

/** Returns the ms until the next attempt after so many failures in a row, give or take a tenth. */
export function pauseAfter(failures: number, random: () => number): number {
  const pause = Math.min(longestPause, firstPause * 2 ** (failures - 1))
  return Math.round(pause * (0.9 + 0.2 * random()))
}

/** Returns until when to wait, 0 for not at all: what is farther away than any pause was written by a clock that was wrong. */
export function restOf(until: number | null, now: number): number {
  return until === null || until - now > longestWait ? 0 : until
}

/** Returns when to renew a certificate of which its authority says nothing. */
export function renewalOf({ notBefore, notAfter }: Life, now: number, random: () => number): RenewalTime {
  const life = notAfter - notBefore
  const at = Math.round(notBefore + life * (renewedAt - spread * random()))
  return bounded({ at, askAt: now, window: null }, { notBefore, notAfter }, now)
}

/** Returns a renewal that neither exhausts an authority which always wants it now nor comes too late for one which never does. */
export function bounded(renewal: RenewalTime, { notBefore, notAfter }: Life, issuedAt: number): RenewalTime {
  const part = (notAfter - notBefore) * reserve
  const earliest = issuedAt + Math.min(leastAge, part)
  return { ...renewal, at: Math.round(Math.max(earliest, Math.min(notAfter - part, renewal.at))) }
}

/** Returns the renewal after the authority has said when it wants it: within its window, and at the same time as long as that stays the same. */
export function afterInfo(
  before: RenewalTime,
  info: RenewalInfo | null,
  now: number,
  random: () => number,
): RenewalTime {
  if (info === null) return { ...before, askAt: now + longestAsk }
  const { window, retryAfter } = info
  const askAt = now + Math.min(longestAsk, Math.max(leastAsk, retryAfter ?? usualAsk))
  const isSame = before.window?.start === window.start && before.window.end === window.end
  if (isSame) return { ...before, askAt }
  return { at: Math.round(window.start + (window.end - window.start) * random()), askAt, window }
}

/** Returns the renewal after an authority could not be asked. */
export function afterSilence(before: RenewalTime, now: number, random: () => number): RenewalTime {
  return { ...before, askAt: now + Math.round(hour * (0.5 + random())) }
}
