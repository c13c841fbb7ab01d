// Undoes the content coding of a kept answer, off the request path and within bounds. Called by entry.ts.

import { PassThrough, type Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'

/** Bytes that an answer may unfold to; what comes beyond is left out. */
const DECODED_SIZE = 4 * 1024 * 1024

interface Decoded {
  readonly bytes: Buffer
  /** Whether the end is missing, because it was not kept, is damaged or goes beyond the bound. */
  readonly isCut: boolean
}

/** Decodes as much as can be; null for a coding that is not known, or several. */
export function decode(bytes: Buffer, coding: string): Promise<Decoded | null> {
  const decoder = decoders.get(coding.trim().toLowerCase())?.()
  if (decoder === undefined) return Promise.resolve(null)
  const pieces: Buffer[] = []
  let size = 0
  let isCut = false
  const { promise, resolve } = Promise.withResolvers<Decoded>()
  decoder.on('data', (piece: Buffer) => {
    pieces.push(piece)
    size += piece.length
    if (size > DECODED_SIZE) decoder.destroy()
  })
  decoder.on('error', () => {
    isCut = true
  })
  decoder.on('close', () => {
    const whole = Buffer.concat(pieces, Math.min(size, DECODED_SIZE))
    resolve({ bytes: whole, isCut: isCut || size > DECODED_SIZE })
  })
  decoder.end(bytes)
  return promise
}

/** Flushing at the end, in place of finishing, gives what there is of an answer that was cut. */
const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush } = constants
const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ['identity', () => new PassThrough()],
  ['gzip', () => createGunzip({ finishFlush: Z_SYNC_FLUSH })],
  ['x-gzip', () => createGunzip({ finishFlush: Z_SYNC_FLUSH })],
  ['deflate', () => createInflate({ finishFlush: Z_SYNC_FLUSH })],
  ['br', () => createBrotliDecompress({ finishFlush: BROTLI_OPERATION_FLUSH })],
  ['zstd', () => createZstdDecompress({ finishFlush: ZSTD_e_flush })],
])
