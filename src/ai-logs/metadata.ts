// The metadata that a caller attaches to a call with svc-aig-metadata, to find it again in the log.

import { isUtf8 } from 'node:buffer'
import type { Reading } from '../base/text/quantity.ts'
import type { Metadata } from '../store/records/records.ts'

const maxBytes = 4096
export const maxMembers = 5

/** Parses a raw field value (latin1): a small flat JSON object in UTF-8. */
export function parseMetadata(value: string): Reading<Metadata> {
  if (value.length > maxBytes) return { flaw: `must have at most ${maxBytes} bytes` }
  return readMetadata(parseJson(Buffer.from(value, 'latin1')))
}

/** Reads the metadata of a call: a small flat object. */
export function readMetadata(object: unknown): Reading<Metadata> {
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    return { flaw: 'must be a JSON object in UTF-8, such as {"team":"search","user":42}' }
  }
  if (JSON.stringify(object).length > maxBytes) return { flaw: `must have at most ${maxBytes} bytes` }
  const values = Object.values(object)
  if (values.length > maxMembers) return { flaw: `must have at most ${maxMembers} members` }
  if (!values.every(isPlain)) return { flaw: 'must have only strings, numbers, booleans and null as values' }
  return { value: object as Metadata }
}

export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) return null
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return null
  }
}

/** A number too large for a double would come back as null. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return value === null || typeof value === 'string' || typeof value === 'boolean'
}
