// Reads lists of texts: each is replaced whole, and has no duplicates.

import type { Field } from './field.ts'

/** Reads a list whose texts pass a rule; absent means the stored list, and null an empty one if allowed. */
export function readList(
  field: Field,
  min: 0 | 1,
  max: number,
  current: readonly string[],
  faultOf: (text: string) => string | null,
): readonly string[] {
  if (field.value === undefined) return current
  return field.value === null && min === 0 ? [] : textsOf(distinct(field.items(min, max)), faultOf)
}

export function textsOf(
  items: readonly Field[],
  faultOf: (text: string) => string | null,
): readonly string[] {
  return items.flatMap(item => item.ruled(faultOf) ?? [])
}

/** Refuses each item that duplicates an earlier one; returns all of them. */
export function distinct(items: readonly Field[]): readonly Field[] {
  const seen = new Set<unknown>()
  for (const item of items) {
    // The URI of a bare host may lack its slash: with it, it is the same.
    const { value } = item
    const whole = typeof value === 'string' && /^https?:\/\/[^/?]+$/.test(value) ? `${value}/` : value
    if (seen.has(whole)) item.refuse('duplicates an earlier item', 'repeated')
    seen.add(whole)
  }
  return items
}
