// What a route compresses: which of its responses, and how.

import type { CompressionConfig, ContentCoding } from '../../config/model/compression-config.ts'
import { equalsIgnoreCase } from '../../http1/fields/fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import { AcceptedCodings } from './accept-encoding.ts'
import { MediaTypes } from './media-types.ts'

/** Those that were compiled, since the routes of a zone mostly have one configuration. */
const compiled = new WeakMap<CompressionConfig, Compression>()

export class Compression {
  readonly levels: CompressionConfig['levels']
  /** Bytes. */
  readonly minimum: number
  readonly types: MediaTypes
  readonly #accepted: AcceptedCodings

  /** Compiles a configuration, or returns what was compiled of it before. */
  static of(config: CompressionConfig): Compression {
    const known = compiled.get(config) ?? new Compression(config)
    compiled.set(config, known)
    return known
  }

  constructor({ encodings, levels, minimum, types }: CompressionConfig) {
    this.levels = levels
    this.minimum = minimum
    this.types = new MediaTypes(types)
    this.#accepted = new AcceptedCodings(encodings)
  }

  /** Returns the coding that a client is to get; null for none. HTTP/1.0 can frame a body of unknown length only by its connection, whose end may be a failure. */
  codingFor(head: RequestHead): ContentCoding | null {
    const line = head.version === '1.0' ? null : acceptEncodingOf(head)
    return line === null ? null : this.#accepted.choose(line)
  }
}

/** Joins the Accept-Encoding lines; null for none. */
export function acceptEncodingOf({ fields }: RequestHead): string | null {
  let line: string | null = null
  for (let i = 0; i < fields.length; i += 2) {
    if (!equalsIgnoreCase(fields[i]!, 'accept-encoding')) continue
    line = line === null ? fields[i + 1]! : `${line}, ${fields[i + 1]}`
  }
  return line
}
