// The periods of the calendar in a time zone: when the one of a moment ends.

import { day, hour, minute } from '../base/units.ts'
import type { CalendarPeriod } from '../store/records/budget-rule.ts'

/** No time zone is further from UTC. */
const furthest = 15 * hour

/**
 * Makes a function that returns when the period of a moment ends, in ms since the epoch. It is the first
 * moment of the local day, which need not be midnight where clocks change. A time zone that this process does
 * not know is UTC.
 */
export function periodEnds(period: CalendarPeriod, timeZone: string): (now: number) => number {
  const dayOf = localDays(timeZone)
  let current = { from: 0, until: 0 }
  return now => {
    if (now < current.from || now >= current.until)
      current = { from: now, until: startOf(nextFirst(period, dayOf(now)), dayOf) }
    return current.until
  }
}

/** Days since the epoch by the calendar of a time zone. */
type DayOf = (now: number) => number

function localDays(timeZone: string): DayOf {
  const format = formatOf(timeZone)
  return now => {
    const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]))
    return Date.UTC(parts.get('year')!, parts.get('month')! - 1, parts.get('day')!) / day
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', calendar: 'iso8601' } as const
  try {
    return new Intl.DateTimeFormat('en', { ...numeric, timeZone })
  } catch {
    return new Intl.DateTimeFormat('en', { ...numeric, timeZone: 'UTC' })
  }
}

/** Returns the first day of the next period. */
function nextFirst(period: CalendarPeriod, today: number): number {
  switch (period) {
    case 'day':
      return today + 1
    case 'week':
      // The epoch was a Thursday: four days later comes a Monday.
      return today + 7 - ((today + 3) % 7)
    case 'month': {
      const date = new Date(today * day)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / day
    }
  }
}

/** Finds the first minute of a local day: clocks change by whole minutes. */
function startOf(first: number, dayOf: DayOf): number {
  let before = (first * day - furthest) / minute
  let after = (first * day + furthest) / minute
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (dayOf(middle * minute) >= first) after = middle
    else before = middle
  }
  return after * minute
}
