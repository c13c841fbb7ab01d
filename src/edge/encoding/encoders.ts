// The encoders of each content coding, at sizes that a gateway can afford thousands of times an hour: how they are made, and what memory one takes.

import {
  type BrotliOptions,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzipSync,
  type ZlibOptions,
  type ZstdOptions,
  zstdCompressSync,
} from 'node:zlib'
import type { Transform } from 'node:stream'
import type { ContentCoding } from '../../config/model/compression-config.ts'

const KiB = 1024

/** Encodes a body piece by piece, in the thread pool. */
export interface Encoder extends Transform {
  flush(kind: number, callback?: () => void): void
}

interface Coding {
  /** The most bytes that one encoder takes at any level (`bench/micro/compression/memory.ts`), with the pieces of the body that wait for it. */
  readonly memory: number
  /** Bytes of a body up to which its encoding at once holds up others no longer than half a millisecond or so. */
  readonly atOnce: number
  /** What has an encoder give out all that it was given. */
  readonly flush: number
  /** Encodes a whole body at once. */
  whole(body: Buffer, level: number): Buffer
  /** Makes an encoder; one that is `prompt` gives out each piece at once. */
  open(level: number, isPrompt: boolean): Encoder
}

export const codings: Readonly<Record<ContentCoding, Coding>> = {
  zstd: {
    memory: 1792 * KiB,
    atOnce: 128 * KiB,
    flush: constants.ZSTD_e_flush,
    whole: (body, level) => zstdCompressSync(body, zstdOptions(level)),
    open(level, isPrompt) {
      const flush = isPrompt ? constants.ZSTD_e_flush : constants.ZSTD_e_continue
      return createZstdCompress({ ...zstdOptions(level), flush })
    },
  },
  br: {
    memory: 2048 * KiB,
    atOnce: 32 * KiB,
    flush: constants.BROTLI_OPERATION_FLUSH,
    whole: (body, level) => brotliCompressSync(body, brotliOptions(level)),
    open(level, isPrompt) {
      const flush = isPrompt ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_PROCESS
      return createBrotliCompress({ ...brotliOptions(level), flush })
    },
  },
  gzip: {
    memory: 640 * KiB,
    atOnce: 32 * KiB,
    flush: constants.Z_SYNC_FLUSH,
    whole: (body, level) => gzipSync(body, { level }),
    open(level, isPrompt) {
      const options: ZlibOptions = { level, flush: isPrompt ? constants.Z_SYNC_FLUSH : constants.Z_NO_FLUSH }
      return createGzip(options)
    },
  },
}

/** Bits of the windows, far below what browsers take (RFC 9659): a page gains next to nothing by more. */
const windowBits = 18

/** From level 4 on, tables would grow to many megabytes with the level. */
function zstdOptions(level: number): ZstdOptions {
  const { ZSTD_c_compressionLevel, ZSTD_c_windowLog, ZSTD_c_hashLog, ZSTD_c_chainLog } = constants
  const tables = level < 4 ? {} : { [ZSTD_c_hashLog]: windowBits - 1, [ZSTD_c_chainLog]: windowBits - 1 }
  return { params: { [ZSTD_c_compressionLevel]: level, [ZSTD_c_windowLog]: windowBits, ...tables } }
}

/** From level 5 on, only windows of 16 bits have the hash tables that do not grow with the level. */
function brotliOptions(level: number): BrotliOptions {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN } = constants
  return { params: { [BROTLI_PARAM_QUALITY]: level, [BROTLI_PARAM_LGWIN]: level < 5 ? windowBits : 16 } }
}
