// JSON for translators: unreadable text is null and never an exception, and numbers keep every digit.

import { bounds, brokenBound } from '../../base/json/members.ts'
import type { Place } from './place.ts'
import { isObject, numberIn } from './rules.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** Null for any other text, and for an object beyond the bounds. */
export function readObject(json: string): JsonObject | null {
  // Each level takes two characters, so a short text needs no check.
  if (json.length > 2 * bounds.depth && brokenBound(Buffer.from(json), bounds) !== null) return null
  try {
    const value = unusualNumber.test(json) ? JSON.parse(json, keepDigits) : JSON.parse(json)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

export function writeBody(request: object, at: Place): Buffer | undefined {
  if (at.findings.count > 0) return undefined
  try {
    return Buffer.from(JSON.stringify(request))
  } catch (error) {
    if (error instanceof RangeError) return at.fault('is nested too deeply')
    throw error
  }
}

export function objectIn(value: unknown): JsonObject {
  return isObject(value) ? value : empty
}

export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function countIn(value: unknown): number | undefined {
  const number = numberIn(value)
  return number !== undefined && number >= 0 && number <= Number.MAX_SAFE_INTEGER ? number : undefined
}

const empty: JsonObject = {}
/** More digits than a double is sure to keep, an exponent, trailing zeros of decimals, and negative zero. */
const unusualNumber = /[\d.]{16}|\d[eE]|\.\d*0(?!\d)|-0(?![.\d])/

/** Keeps digits that JavaScript would lose: arguments contain 64-bit ids, and 1.0 is not an integer. */
function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  return typeof value !== 'number' || source === undefined || String(value) === source
    ? value
    : rawJson(source)
}

const { rawJSON: rawJson } = JSON as unknown as { rawJSON(source: string): unknown }
