// What is known of a body that is compressed.

import type { ContentCoding } from '../../config/model/compression-config.ts'

/** How a body is to be compressed. */
export interface Encoding {
  readonly coding: ContentCoding
  readonly level: number
}

/** A body that is compressed, as far as it has come. */
export interface Encoded {
  readonly coding: ContentCoding
  /** Its bytes before compression. */
  readonly taken: number
}
