// When a server allows a retry (RFC 9110 section 10.2.3).

import { equalsIgnoreCase } from './fields.ts'
import { withoutOws } from '../../base/text/ows.ts'

/** Ms after `now` (RFC 9110 section 10.2.3), of several the longest; null if unreadable. */
export function retryAfterIn(fields: readonly string[], now: number): number | null {
  let longest: number | null = null
  for (let i = 0; i < fields.length; i += 2) {
    if (!equalsIgnoreCase(fields[i]!, 'retry-after')) continue
    const wait = waitIn(withoutOws(fields[i + 1]!), now)
    if (wait !== null && (longest === null || wait > longest)) longest = wait
  }
  return longest
}

function waitIn(value: string, now: number): number | null {
  if (seconds.test(value)) return Number(value) * 1000
  const date = datePattern.test(value)
    ? Date.parse(value)
    : asctime.test(value)
      ? Date.parse(`${value} GMT`)
      : NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** Some providers send decimals. */
const seconds = /^\d+(?:\.\d+)?$/
// Date.parse takes nearly anything for a date, such as -5 or 1.5s.
const time = '\\d\\d:\\d\\d:\\d\\d'
const datePattern = new RegExp(
  `^[A-Z][a-z]+, (?:\\d\\d [A-Z][a-z]{2} \\d{4}|\\d\\d-[A-Z][a-z]{2}-\\d\\d) ${time} GMT$`,
)
const asctime = new RegExp(`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]\\d ${time} \\d{4}$`)
