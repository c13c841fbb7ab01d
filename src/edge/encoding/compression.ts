// What a route compresses: which responses, and how.

import { memoizeEach } from '../../base/memo.ts'
import type { CompressionConfig, ContentCoding } from '../../config/model/compression-config.ts'
import { equalsIgnoreCase } from '../../http1/fields/fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import { acceptedCoding } from './accept-encoding.ts'
import { mediaTypeMatcher } from './media-types.ts'

export class Compression {
  readonly levels: CompressionConfig['levels']
  readonly minimum: number
  readonly isOfType: (contentType: string) => boolean
  readonly #choose: (line: string) => ContentCoding | null

  /** Most routes share a configuration. */
  static readonly of = memoizeEach((config: CompressionConfig) => new Compression(config))

  constructor({ encodings, levels, minimum, types }: CompressionConfig) {
    this.levels = levels
    this.minimum = minimum
    this.isOfType = mediaTypeMatcher(types)
    this.#choose = acceptedCoding(encodings)
  }

  /** HTTP/1.0 could not tell the end of the body from a failure. */
  codingFor(head: RequestHead): ContentCoding | null {
    const line = head.version === '1.0' ? null : acceptEncodingOf(head)
    return line === null ? null : this.#choose(line)
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
