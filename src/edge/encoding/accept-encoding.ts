// Chooses the content coding of a response from Accept-Encoding (RFC 9110 section 12.5.3).

import Negotiator from 'negotiator'
import { ownText } from '../../base/text/own-text.ts'
import type { ContentCoding } from '../../config/model/compression-config.ts'

/** Clients send few different lines. Overlong ones are not cached. */
const maxCached = 64
const maxCachedLength = 256
const maxLength = 4096

export class AcceptedCodings {
  readonly #codings: readonly string[]
  readonly #cache = new Map<string, ContentCoding | null>()

  constructor(codings: readonly ContentCoding[]) {
    this.#codings = [...codings, identity]
  }

  /**
   * The highest weight, among equals the most preferred. Null if plain content weighs more, none is accepted,
   * or the line is malformed.
   */
  choose(line: string): ContentCoding | null {
    const cached = this.#cache.get(line)
    return cached === undefined ? this.#store(line, this.#negotiate(line)) : cached
  }

  #negotiate(line: string): ContentCoding | null {
    if (line.length > maxLength || !wellFormed.test(line)) return null
    const headers = { 'accept-encoding': line.toLowerCase().replaceAll(oldGzip, 'gzip') }
    const negotiator = new Negotiator({ headers }) as unknown as Ranking
    const [best] = negotiator.encodings(this.#codings, { preferred: this.#codings })
    return best === undefined || best === identity ? null : (best as ContentCoding)
  }

  #store(line: string, coding: ContentCoding | null): ContentCoding | null {
    const cache = this.#cache
    if (line.length > maxCachedLength) return coding
    if (cache.size === maxCached) cache.delete(cache.keys().next().value!)
    // A slice would keep the whole head in memory.
    cache.set(ownText(line), coding)
    return coding
  }
}

interface Ranking {
  encodings(available: readonly string[], options: { preferred: readonly string[] }): readonly string[]
}

const identity = 'identity'

/** For recipients older than the registration of gzip (RFC 9110 section 8.4.1.3). */
const oldGzip = /(?<![^, \t])x-gzip(?![^,; \t])/g

const token = "[\\w!#$%&'*+.^`|~-]+"
const weight = '(?:[ \\t]*;[ \\t]*[qQ]=(?:0(?:\\.\\d{0,3})?|1(?:\\.0{0,3})?))?'
const element = `[ \\t]*(?:${token}${weight})?[ \\t]*`
const wellFormed = new RegExp(`^${element}(?:,${element})*$`)
