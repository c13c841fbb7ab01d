// Undoes the content coding of a stored response, off the request path and within bounds.

import { PassThrough, type Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import { withoutOws } from '../base/text/ows.ts'

/** Bytes that a response may expand to; the rest is dropped. */
const decodedSize = 4 * 1024 * 1024

interface Decoded {
  readonly bytes: Buffer
  /** Whether the end is missing: not kept, damaged, or beyond the limit. */
  readonly isCut: boolean
}

/** Limit of stacked codings; no legitimate response has more. */
const maxCodings = 3

/** Undoes codings from the last one on (RFC 9110 section 8.4) as far as possible; null if unknown. */
export async function decode(bytes: Buffer, codings: string): Promise<Decoded | null> {
  const makers = codings.split(',').map(coding => decoders.get(withoutOws(coding).toLowerCase()))
  if (makers.length > maxCodings) return null
  let decoded: Decoded = { bytes, isCut: false }
  for (const make of makers.reverse()) {
    if (make === undefined) return null
    const { isCut } = decoded
    decoded = await undo(make(), decoded.bytes)
    if (isCut) decoded = { ...decoded, isCut }
  }
  return decoded
}

function undo(decoder: Transform, bytes: Buffer): Promise<Decoded> {
  const pieces: Buffer[] = []
  let size = 0
  let isCut = false
  const { promise, resolve } = Promise.withResolvers<Decoded>()
  decoder.on('data', (piece: Buffer) => {
    pieces.push(piece)
    size += piece.length
    if (size > decodedSize) decoder.destroy()
  })
  decoder.on('error', () => {
    isCut = true
  })
  decoder.on('close', () => {
    const whole = Buffer.concat(pieces, Math.min(size, decodedSize))
    resolve({ bytes: whole, isCut: isCut || size > decodedSize })
  })
  decoder.end(bytes)
  return promise
}

/** Flushing instead of finishing returns the intact part of a truncated response. */
const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush } = constants
const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ['identity', () => new PassThrough()],
  ['gzip', () => createGunzip({ finishFlush: Z_SYNC_FLUSH })],
  ['x-gzip', () => createGunzip({ finishFlush: Z_SYNC_FLUSH })],
  ['deflate', () => createInflate({ finishFlush: Z_SYNC_FLUSH })],
  ['br', () => createBrotliDecompress({ finishFlush: BROTLI_OPERATION_FLUSH })],
  ['zstd', () => createZstdDecompress({ finishFlush: ZSTD_e_flush })],
])
