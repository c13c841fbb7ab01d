// Parses the values in a log query, by the type of what they are compared with.

import { parseMoment } from '../base/text/moment.ts'
import type { Reading } from '../base/text/quantity.ts'

export type ValueType = 'text' | 'number' | 'truth' | 'time'

const longestText = 1000

/** Reads a value, or the rule that it breaks; a time becomes ms since the epoch. */
export function readValue(type: ValueType, text: string): Reading<string | number | boolean> {
  switch (type) {
    case 'text':
      if (text === '' || text.length > longestText)
        return { flaw: `must have 1 to ${longestText} characters` }
      return { value: text }
    case 'number':
      return /^\d{1,15}(?:\.\d{1,15})?$/.test(text) ? { value: Number(text) } : { flaw: 'must be a number' }
    case 'truth':
      return text === 'true' || text === 'false'
        ? { value: text === 'true' }
        : { flaw: 'must be true or false' }
    case 'time':
      return readTime(text)
  }
}

/** Reads a whole number from `min` to `max`. */
export function readWhole(text: string, min: number, max: number): Reading<number> {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1
  return value >= min && value <= max ? { value } : { flaw: `must be a whole number from ${min} to ${max}` }
}

const time = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/

function readTime(text: string): Reading<number> {
  const day = time.exec(text)?.[1]
  const hasDay = day !== undefined && parseMoment(day, { allowsDay: true }) !== null
  const value = hasDay ? Date.parse(text) : Number.NaN
  return Number.isNaN(value) ? { flaw: 'must be a date and time such as 2026-01-31T12:00:00Z' } : { value }
}
