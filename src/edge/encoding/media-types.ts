// A list of media types, with patterns for those of a kind.

import { ownText } from '../../base/text/own-text.ts'

/** Remembered types of responses: origins have few. */
const mostRemembered = 64
const longestRemembered = 128

export class MediaTypes {
  readonly #types: ReadonlySet<string>
  readonly #remembered = new Map<string, boolean>()

  /** Takes lower-case types: `type/subtype`, `type/*` or `type/*+suffix`. */
  constructor(types: Iterable<string>) {
    this.#types = new Set(types)
  }

  /** Whether a Content-Type is of one of these. An event stream is only where its type is listed by name; calls of gRPC never are. */
  has(contentType: string): boolean {
    return this.#remembered.get(contentType) ?? this.#remember(contentType, this.#look(contentType))
  }

  #look(contentType: string): boolean {
    const [, type, subtype] = start.exec(contentType.toLowerCase()) ?? []
    if (type === undefined || neverEncoded.test(`${type}/${subtype}`)) return false
    if (this.#types.has(`${type}/${subtype}`)) return true
    if (`${type}/${subtype}` === eventStream) return false
    const suffix = subtype!.lastIndexOf('+')
    return (
      this.#types.has(`${type}/*`) || (suffix > 0 && this.#types.has(`${type}/*${subtype!.slice(suffix)}`))
    )
  }

  #remember(contentType: string, has: boolean): boolean {
    const remembered = this.#remembered
    if (contentType.length > longestRemembered) return has
    if (remembered.size === mostRemembered) remembered.delete(remembered.keys().next().value!)
    // A copy, since a slice would keep the whole head of its response alive.
    remembered.set(ownText(contentType), has)
    return has
  }
}

const token = "[\\w!#$%&'*+.^`|~-]+"
const start = new RegExp(`^(${token})/(${token})[ \\t]*(?:;|$)`)
const eventStream = 'text/event-stream'

/** Messages of gRPC have a coding of their own. */
const neverEncoded = /^application\/grpc(?:$|[+-])/
