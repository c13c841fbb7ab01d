// A list of media types and patterns of them.

import { memoizeTexts } from '../../base/text/own-text.ts'

/** Origins send few types. */
const cached = { max: 64, maxLength: 128 }

/**
 * Makes a function that matches lower-case `type/subtype`, `type/*` or `type/*+suffix`. Event streams match
 * only by name, and gRPC calls never.
 */
export function mediaTypeMatcher(list: Iterable<string>): (contentType: string) => boolean {
  const types = new Set(list)
  return memoizeTexts(cached, contentType => {
    const [, type, subtype] = start.exec(contentType.toLowerCase()) ?? []
    if (type === undefined || neverEncoded.test(`${type}/${subtype}`)) return false
    if (types.has(`${type}/${subtype}`)) return true
    if (`${type}/${subtype}` === eventStream) return false
    const suffix = subtype!.lastIndexOf('+')
    return types.has(`${type}/*`) || (suffix > 0 && types.has(`${type}/*${subtype!.slice(suffix)}`))
  })
}

const token = "[\\w!#$%&'*+.^`|~-]+"
const start = new RegExp(`^(${token})/(${token})[ \\t]*(?:;|$)`)
const eventStream = 'text/event-stream'

/** gRPC messages have a coding of their own. */
const neverEncoded = /^application\/grpc(?:$|[+-])/
