// What is known about a compressed body.

import type { ContentCoding } from '../../config/model/compression-config.ts'

export interface Encoding {
  readonly coding: ContentCoding
  readonly level: number
}

export interface Encoded {
  readonly coding: ContentCoding
  /** Before compression. */
  readonly bytesIn: number
}
