// Which responses may be compressed: those that stay useful, and that no field requires to be left as they
// are.

import { equalsIgnoreCase, type FieldLines, field, listHas } from '../../http1/fields/fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { Compression } from './compression.ts'
import { withoutOws } from '../../base/text/ows.ts'

interface Response {
  readonly head: Pick<ResponseHead, 'status' | 'contentLength'>
  readonly message: FieldLines
}

export function isCompressible(
  { isOfType, minimum }: Pick<Compression, 'isOfType' | 'minimum'>,
  { head, message }: Response,
): boolean {
  const { status, contentLength } = head
  if (status < 200 || partial.has(status)) return false
  if (contentLength !== -1 && contentLength < minimum) return false
  const { fields, ids } = message
  let type: string | null = null
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]
    if (id === field.contentEncoding) return false
    if (id === field.contentType) {
      // Recipients would differ on which of the two counts.
      if (type !== null) return false
      type = fields[2 * i + 1]!
    } else if (id === field.other && forbids(fields[2 * i]!, fields[2 * i + 1]!)) return false
  }
  return type !== null && isOfType(type)
}

/** RFC 9111 section 5.2.1.6. */
export function forbidsTransform({ fields }: RequestHead): boolean {
  for (let i = 0; i < fields.length; i += 2)
    if (equalsIgnoreCase(fields[i]!, 'cache-control') && listHas(fields[i + 1]!, 'no-transform')) return true
  return false
}

export function isDigest(name: string): boolean {
  switch (name.length) {
    case 6:
      return equalsIgnoreCase(name, 'digest')
    case 11:
      return equalsIgnoreCase(name, 'content-md5') || equalsIgnoreCase(name, 'repr-digest')
    case 14:
      return equalsIgnoreCase(name, 'content-digest')
    default:
      return false
  }
}

/** RFC 9110 sections 15.3.5 to 15.3.7, 15.4.5. */
const partial: ReadonlySet<number> = new Set([204, 205, 206, 304])

/** A directive, a range, a digest, or a signature that may cover one. */
function forbids(name: string, value: string): boolean {
  switch (name.length) {
    case 7:
      return equalsIgnoreCase(name, 'trailer') && announcesDigest(value)
    case 9:
      return equalsIgnoreCase(name, 'signature')
    case 13:
      if (equalsIgnoreCase(name, 'content-range')) return true
      return equalsIgnoreCase(name, 'cache-control') && listHas(value, 'no-transform')
    default:
      return isDigest(name)
  }
}

function announcesDigest(value: string): boolean {
  return value.split(',').some(name => isDigest(withoutOws(name)))
}
