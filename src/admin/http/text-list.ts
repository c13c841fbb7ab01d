// Reads lists of texts: each is replaced whole, and nothing stands in one twice.

import type { Field } from './field.ts'

/** Reads a list, whose texts a rule finds no fault with; what is kept where it is absent, and none for null where it may be empty. */
export function readList(
  field: Field,
  least: 0 | 1,
  most: number,
  kept: readonly string[],
  faultOf: (text: string) => string | null,
): readonly string[] {
  if (field.value === undefined) return kept
  return field.value === null && least === 0 ? [] : textsOf(distinct(field.items(least, most)), faultOf)
}

/** Returns the texts in which a rule finds no fault, and refuses the others. */
export function textsOf(
  items: readonly Field[],
  faultOf: (text: string) => string | null,
): readonly string[] {
  return items.flatMap(item => item.ruled(faultOf) ?? [])
}

/** Refuses each item that is the same as an earlier one; gives all of them. */
export function distinct(items: readonly Field[]): readonly Field[] {
  const seen = new Set<unknown>()
  for (const item of items) {
    // Of the URI of a bare host the slash may lack: with it, it is the same.
    const { value } = item
    const whole = typeof value === 'string' && /^https?:\/\/[^/?]+$/.test(value) ? `${value}/` : value
    if (seen.has(whole)) item.refuse('duplicates an earlier item', 'repeated')
    seen.add(whole)
  }
  return items
}
