// What compression changes in the fields of a response.

import { equalsIgnoreCase, type FieldId, type FieldLines, field, listHas } from '../../http1/fields/fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { ContentCoding } from '../../config/model/compression-config.ts'
import { isDigest } from './compressible.ts'

/** With a weak validator, without ranges (RFC 9110 sections 8.8.1, 14.3). */
export function compressedFields(message: FieldLines, coding: ContentCoding): FieldLines {
  const result = withValues(message, (name, value) => {
    if (equalsIgnoreCase(name, 'etag')) return weakTag(value)
    return equalsIgnoreCase(name, 'accept-ranges') ? null : value
  })
  result.fields.push('Content-Encoding', coding)
  result.ids.push(field.contentEncoding)
  return withVary(result)
}

/** For the caches of other clients. */
export function withVary(message: FieldLines): FieldLines {
  const { kind, fields, ids, hopByHop } = message
  for (let i = 0; i < fields.length; i += 2)
    if (equalsIgnoreCase(fields[i]!, 'vary') && variesAlready(fields[i + 1]!)) return withOurFields(message)
  return withOurFields({
    kind,
    fields: [...fields, 'Vary', 'Accept-Encoding'],
    ids: [...ids, field.other],
    hopByHop,
  })
}

/** A 304 gets the client's validator, which was weakened here: the stored responses differ. */
export function revalidatedFields(message: FieldLines, { fields }: RequestHead): FieldLines {
  const conditions: string[] = []
  for (let i = 0; i < fields.length; i += 2)
    if (equalsIgnoreCase(fields[i]!, 'if-none-match')) conditions.push(fields[i + 1]!)
  const ifNoneMatch = conditions.join()
  let isOurs = false
  const result = withValues(message, (name, value) => {
    if (!equalsIgnoreCase(name, 'etag') || value[0] !== '"' || !ifNoneMatch.includes(`W/${value}`))
      return value
    isOurs = true
    return weakTag(value)
  })
  return isOurs ? withVary(result) : message
}

export function compressedTrailers(trailers: readonly string[] | null): readonly string[] | null {
  if (trailers === null) return null
  const result = trailers.filter((_, i) => !isDigest(trailers[i - (i % 2)]!))
  return result.length === 0 ? null : result
}

/** RFC 9110 section 8.8.3. */
function weakTag(tag: string): string | null {
  if (tag.startsWith('W/')) return tag
  return tag[0] === '"' ? `W/${tag}` : null
}

interface MutableFieldLines extends FieldLines {
  readonly fields: string[]
  readonly ids: FieldId[]
}

/** A null value drops the field. */
function withValues(
  { kind, fields, ids, hopByHop }: FieldLines,
  valueFor: (name: string, value: string) => string | null,
): MutableFieldLines {
  const result: MutableFieldLines = { kind, fields: [], ids: [], hopByHop }
  for (let i = 0; i < ids.length; i++) {
    const name = fields[2 * i]!
    const value = valueFor(name, fields[2 * i + 1]!)
    if (value === null) continue
    result.fields.push(name, value)
    result.ids.push(ids[i]!)
  }
  return result
}

function variesAlready(value: string): boolean {
  return listHas(value, 'accept-encoding') || listHas(value, '*')
}

/** Keeps our own fields from being dropped as named by the origin's Connection. */
function withOurFields(message: FieldLines): FieldLines {
  const { hopByHop } = message
  if (hopByHop === null) return message
  return { ...message, hopByHop: new Set([...hopByHop].filter(name => !ourFields.has(name))) }
}

const ourFields: ReadonlySet<string> = new Set(['content-encoding', 'vary'])
