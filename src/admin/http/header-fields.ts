// Header fields and addresses of a request that a body describes.

import { canonicalAddress } from '../../net/address/address.ts'
import { accept, headerName } from '../../config/shape/rules.ts'
import type { Rule } from '../../config/shape/shape.ts'
import type { Field } from './field.ts'

/** Maximum of fields, of values of one, and of characters of a value. */
const maxFields = 100
const longest = 8 * 1024

type Pair = readonly [name: string, value: string]

/** Reads an object of names with one or more values; pairs that break a rule are left out. */
export function readHeaderFields(field: Field): readonly Pair[] {
  const names = Object.keys(field.object() ?? {})
  if (names.length > maxFields) field.refuse(`must have at most ${maxFields} members`)
  const members = Object.entries(field.members([], names.slice(0, maxFields)))
  return members.flatMap(([name, member]) => readOne(name, member))
}

function readOne(name: string, field: Field): readonly Pair[] {
  if ('flaw' in headerName(name)) field.refuse('is not a valid header field name')
  const values = Array.isArray(field.value) ? field.items(1, maxFields) : [field]
  return values.flatMap(value => {
    const text = value.ruled(fieldValueFault)
    return text === null ? [] : [[name, text] as const]
  })
}

/** Finds fault with an invalid field value (RFC 9110 section 5.5). */
export function fieldValueFault(text: string): string | null {
  return text.length <= longest && /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
    ? null
    : `must be a valid header field value of at most ${longest} characters`
}

export const ipAddress: Rule<string> = text =>
  accept(canonicalAddress(text) ?? undefined, 'must be an IP address')
