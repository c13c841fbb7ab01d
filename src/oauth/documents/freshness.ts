// How long a document may be used before it is fetched again: as its server says (RFC 9111), within bounds.

import type { IncomingHttpHeaders } from 'node:http'
import { hour, minute, second } from '../../base/units.ts'

/** Less, and each request could cause a fetch; more than `longest`, and a removed document would live on. */
const shortest = 5 * minute
export const longest = hour

/** Returns ms. */
export function freshnessOf(headers: IncomingHttpHeaders, now: number): number {
  const left = (lifetimeIn(headers, now) ?? 0) - ageIn(headers)
  return Math.min(longest, Math.max(shortest, left))
}

function lifetimeIn({ 'cache-control': control, expires }: IncomingHttpHeaders, now: number): number | null {
  const directives = (control ?? '').toLowerCase()
  if (/(?:^|[ \t,])no-(?:store|cache)\b/.test(directives)) return 0
  const [, seconds] = /(?:^|[ \t,])max-age="?(\d{1,9})/.exec(directives) ?? []
  if (seconds !== undefined) return Number(seconds) * second
  const until = expires === undefined ? Number.NaN : Date.parse(expires)
  return Number.isNaN(until) ? null : until - now
}

function ageIn({ age }: IncomingHttpHeaders): number {
  return age !== undefined && /^\d{1,9}$/.test(age) ? Number(age) * second : 0
}
