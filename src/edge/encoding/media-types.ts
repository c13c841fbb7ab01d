// A list of media types and patterns of them.

import { ownText } from '../../base/text/own-text.ts'

/** Origins send few types. */
const maxCached = 64
const maxCachedLength = 128

export class MediaTypes {
  readonly #types: ReadonlySet<string>
  readonly #cache = new Map<string, boolean>()

  /** In lower case: `type/subtype`, `type/*` or `type/*+suffix`. */
  constructor(types: Iterable<string>) {
    this.#types = new Set(types)
  }

  /** Event streams match only by name, and gRPC calls never. */
  has(contentType: string): boolean {
    return this.#cache.get(contentType) ?? this.#store(contentType, this.#matches(contentType))
  }

  #matches(contentType: string): boolean {
    const [, type, subtype] = start.exec(contentType.toLowerCase()) ?? []
    if (type === undefined || neverEncoded.test(`${type}/${subtype}`)) return false
    if (this.#types.has(`${type}/${subtype}`)) return true
    if (`${type}/${subtype}` === eventStream) return false
    const suffix = subtype!.lastIndexOf('+')
    return (
      this.#types.has(`${type}/*`) || (suffix > 0 && this.#types.has(`${type}/*${subtype!.slice(suffix)}`))
    )
  }

  #store(contentType: string, has: boolean): boolean {
    const cache = this.#cache
    if (contentType.length > maxCachedLength) return has
    if (cache.size === maxCached) cache.delete(cache.keys().next().value!)
    // A slice would keep the whole head in memory.
    cache.set(ownText(contentType), has)
    return has
  }
}

const token = "[\\w!#$%&'*+.^`|~-]+"
const start = new RegExp(`^(${token})/(${token})[ \\t]*(?:;|$)`)
const eventStream = 'text/event-stream'

/** gRPC messages have a coding of their own. */
const neverEncoded = /^application\/grpc(?:$|[+-])/
