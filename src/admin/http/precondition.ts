// If-Match and If-None-Match (RFC 9110 section 13.1).

import { type ApiResponse, failure, withHeaders } from './envelope.ts'
import { withoutOws } from '../../base/text/ows.ts'

/** A resource with an entity tag: no two states of it have the same revision, of letters and digits. */
interface Revision {
  readonly revision: number | string
}

export function etagOf({ revision }: Revision): ApiResponse['headers'] {
  return { etag: `"${revision}"` }
}

/** Refuses a change with 412 for another tag or no resource, with 400 for an invalid field. */
export function unmet(ifMatch: string | null, current: Revision | null): ApiResponse | null {
  if (ifMatch === null) return null
  const tags = parseIfMatch(ifMatch)
  if (tags === null) return malformed
  if (current === null) return gone
  const headers = etagOf(current)
  return tags === '*' || tags.includes(headers.etag!) ? null : withHeaders(failure('stale'), headers)
}

/** Refuses with 412 if `*` or a tag matches the current state, with 400 for an invalid field. */
export function unmetByNone(ifNoneMatch: string | null, current: Revision | null): ApiResponse | null {
  if (ifNoneMatch === null) return null
  const tags = parseIfMatch(ifNoneMatch, true)
  if (tags === null) return malformedNone
  if (current === null) return null
  const headers = etagOf(current)
  return tags === '*' || tags.includes(headers.etag!) ? withHeaders(failure('stale'), headers) : null
}

/** Weak tags match nothing in If-Match, and are read only if they count; null for an invalid field. */
export function parseIfMatch(field: string, countsWeak = false): readonly string[] | '*' | null {
  if (withoutOws(field) === '*') return '*'
  const tags: string[] = []
  member.lastIndex = 0
  let hasAny = false
  while (member.lastIndex < field.length) {
    const match = member.exec(field)
    if (match === null) return null
    const [, isWeak, tag] = match
    hasAny ||= tag !== undefined
    if (tag !== undefined && (countsWeak || isWeak === undefined)) tags.push(tag)
  }
  return hasAny ? tags : null
}

/** A tag or nothing, and the comma or end behind it: empty members are skipped (RFC 9110 section 5.6.1.2). */
const member = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y

const gone = failure('stale')
const malformed = failure('invalid', 'If-Match', 'must be * or a list of entity tags such as "7"')
const malformedNone = failure('invalid', 'If-None-Match', 'must be * or a list of entity tags such as "7"')
