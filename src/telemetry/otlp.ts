// OTLP messages in the JSON mapping of opentelemetry-proto 1.x: 64-bit integers are text, enums numbers.

import type { Attributes, AttributeValue } from './span.ts'

export interface Sender {
  readonly attributes: Attributes
  readonly version: string
}

export function resourceOf({ attributes }: Sender): object {
  return { attributes: keyValues(attributes) }
}

export function scopeOf({ version }: Sender): object {
  return { name: 'gatehouse', version }
}

/** Undefined values are left out. */
export function keyValues(attributes: Readonly<Record<string, AttributeValue | undefined>>): object[] {
  const pairs: object[] = []
  for (const key in attributes) {
    const value = attributes[key]
    if (value !== undefined) pairs.push({ key, value: anyValue(value) })
  }
  return pairs
}

/** With the precision of microseconds: a number has no more digits. */
export function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1000)}000`
}

/** JSON has no numbers for NaN and the infinities. */
export function double(value: number): number | string {
  return Number.isFinite(value) ? value : String(value)
}

function anyValue(value: AttributeValue): object {
  // Parsers of protobuf's JSON reject a message with half a surrogate pair, which a client can send.
  if (typeof value === 'string') return { stringValue: value.toWellFormed() }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value !== 'number') return { arrayValue: { values: value.map(anyValue) } }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: double(value) }
}
