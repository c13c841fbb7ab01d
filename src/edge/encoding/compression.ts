// What a route compresses: which responses, and how.

import type { CompressionConfig, ContentCoding } from '../../config/model/compression-config.ts'
import { equalsIgnoreCase } from '../../http1/fields/fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import { AcceptedCodings } from './accept-encoding.ts'
import { MediaTypes } from './media-types.ts'

/** Most routes share a configuration. */
const cache = new WeakMap<CompressionConfig, Compression>()

export class Compression {
  readonly levels: CompressionConfig['levels']
  readonly minimum: number
  readonly types: MediaTypes
  readonly #accepted: AcceptedCodings

  static of(config: CompressionConfig): Compression {
    const compression = cache.get(config) ?? new Compression(config)
    cache.set(config, compression)
    return compression
  }

  constructor({ encodings, levels, minimum, types }: CompressionConfig) {
    this.levels = levels
    this.minimum = minimum
    this.types = new MediaTypes(types)
    this.#accepted = new AcceptedCodings(encodings)
  }

  /** HTTP/1.0 could not tell the end of the body from a failure. */
  codingFor(head: RequestHead): ContentCoding | null {
    const line = head.version === '1.0' ? null : acceptEncodingOf(head)
    return line === null ? null : this.#accepted.choose(line)
  }
}

export function acceptEncodingOf({ fields }: RequestHead): string | null {
  let line: string | null = null
  for (let i = 0; i < fields.length; i += 2) {
    if (!equalsIgnoreCase(fields[i]!, 'accept-encoding')) continue
    line = line === null ? fields[i + 1]! : `${line}, ${fields[i + 1]}`
  }
  return line
}
