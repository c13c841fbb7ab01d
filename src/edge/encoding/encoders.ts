// The encoders of each content coding, in sizes that thousands of bodies can have.

import {
  type BrotliOptions,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzipSync,
  type ZstdOptions,
  zstdCompressSync,
} from 'node:zlib'
import type { Transform } from 'node:stream'
import type { ContentCoding } from '../../config/model/compression-config.ts'

const KiB = 1024

export interface Encoder extends Transform {
  flush(kind: number, callback?: () => void): void
}

export interface Encoding {
  readonly coding: ContentCoding
  readonly level: number
}

export interface Encoded {
  readonly coding: ContentCoding
  readonly bytesIn: number
}

interface Coding {
  /** An upper bound with its queue at any level (`bench/micro/compression/memory.ts`). */
  readonly memory: number
  /** Takes at most about half a millisecond. */
  readonly maxSyncBytes: number
  /** Emits everything that was taken. */
  readonly flush: number
  encodeSync(body: Buffer, level: number): Buffer
  /** With `isPrompt` the encoder emits each piece at once. */
  open(level: number, isPrompt: boolean): Encoder
}

export const codings: Readonly<Record<ContentCoding, Coding>> = {
  zstd: {
    memory: 1792 * KiB,
    maxSyncBytes: 128 * KiB,
    flush: constants.ZSTD_e_flush,
    encodeSync: (body, level) => zstdCompressSync(body, zstdOptions(level)),
    open(level, isPrompt) {
      const flush = isPrompt ? constants.ZSTD_e_flush : constants.ZSTD_e_continue
      return createZstdCompress({ ...zstdOptions(level), flush })
    },
  },
  br: {
    memory: 2048 * KiB,
    maxSyncBytes: 32 * KiB,
    flush: constants.BROTLI_OPERATION_FLUSH,
    encodeSync: (body, level) => brotliCompressSync(body, brotliOptions(level)),
    open(level, isPrompt) {
      const flush = isPrompt ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_PROCESS
      return createBrotliCompress({ ...brotliOptions(level), flush })
    },
  },
  gzip: {
    memory: 640 * KiB,
    maxSyncBytes: 32 * KiB,
    flush: constants.Z_SYNC_FLUSH,
    encodeSync: (body, level) => gzipSync(body, { level }),
    open(level, isPrompt) {
      return createGzip({ level, flush: isPrompt ? constants.Z_SYNC_FLUSH : constants.Z_NO_FLUSH })
    },
  },
}

/** Far below the maximum of browsers (RFC 9659): a page gains next to nothing from more. */
const windowBits = 18

/** From level 4 on, tables would grow to many megabytes. */
function zstdOptions(level: number): ZstdOptions {
  const { ZSTD_c_compressionLevel, ZSTD_c_windowLog, ZSTD_c_hashLog, ZSTD_c_chainLog } = constants
  const tables = level < 4 ? {} : { [ZSTD_c_hashLog]: windowBits - 1, [ZSTD_c_chainLog]: windowBits - 1 }
  return { params: { [ZSTD_c_compressionLevel]: level, [ZSTD_c_windowLog]: windowBits, ...tables } }
}

/** From level 5 on, only windows of 16 bits have hash tables that do not grow with the level. */
function brotliOptions(level: number): BrotliOptions {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN } = constants
  return { params: { [BROTLI_PARAM_QUALITY]: level, [BROTLI_PARAM_LGWIN]: level < 5 ? windowBits : 16 } }
}
