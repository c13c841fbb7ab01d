// What is known about a compressed body.

import type { ContentCoding } from '../../config/model/compression-config.ts'

/** How to compress a body. */
export interface Encoding {
  readonly coding: ContentCoding
  readonly level: number
}

/** The progress of a compressed body. */
export interface Encoded {
  readonly coding: ContentCoding
  /** Bytes before compression. */
  readonly bytesIn: number
}
