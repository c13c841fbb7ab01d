// Content codings in the hands of a test: what a client makes of them, whole or as they come.

import { once } from 'node:events'
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createZstdDecompress,
  gunzipSync,
  zstdDecompressSync,
} from 'node:zlib'
import type { ContentCoding } from '../../src/config/model/compression-config.ts'
import type { CompressionConfig } from '../../src/config/model/compression-config.ts'

export const everyCoding = ['zstd', 'br', 'gzip'] as const

/** Compression as a zone has it by default, of a few types. */
export const usualCompression: CompressionConfig = {
  encodings: everyCoding,
  levels: { zstd: 3, br: 4, gzip: 5 },
  types: ['text/*', 'application/json'],
  minimum: 1024,
}

/** Decodes a whole body; throws where it is not whole. */
export function decoded(coding: string | null, body: Buffer): Buffer {
  switch (coding) {
    case null:
      return body
    case 'zstd':
      return zstdDecompressSync(body)
    case 'br':
      return brotliDecompressSync(body)
    case 'gzip':
      return gunzipSync(body)
    default:
      throw new Error(`a coding that nobody asked for: ${coding}`)
  }
}

/** Decodes a body as it comes. */
export class Decoding {
  text = ''
  readonly #decoder

  constructor(coding: ContentCoding) {
    this.#decoder = { zstd: createZstdDecompress, br: createBrotliDecompress, gzip: createGunzip }[coding]()
    this.#decoder.on('error', () => {})
    this.#decoder.on('data', (bytes: Buffer) => {
      this.text += bytes.toString('latin1')
    })
  }

  push(bytes: Buffer): void {
    this.#decoder.write(bytes)
  }

  /** Waits until what was pushed so far holds a text. */
  async until(text: string): Promise<void> {
    while (!this.text.includes(text)) await once(this.#decoder, 'data')
  }
}
