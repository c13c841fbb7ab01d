// Decides whether a response is compressed, and how its fields change.

import type { ContentCoding } from '../../config/model/compression-config.ts'
import type { FieldLines } from '../../http1/fields/fields.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { forbidsTransform, isCompressible } from '../encoding/compressible.ts'
import { compressedFields, revalidatedFields, withVary } from '../encoding/compressed-fields.ts'
import type { Compression } from '../encoding/compression.ts'
import { codings, type Encoding } from '../encoding/encoders.ts'

export interface CompressionDecision {
  readonly message: FieldLines
  readonly encoding: Encoding | null
  readonly keepsLength: boolean
}

/** A response to HEAD is treated like that to GET. */
export function decideCompression(
  x: Exchange,
  compression: Compression,
  head: ResponseHead,
  message: FieldLines,
): CompressionDecision {
  if (head.status === 304) {
    const revalidated = revalidatedFields(message, x.head)
    return { message: revalidated, encoding: null, keepsLength: revalidated === message }
  }
  if (!isCompressible(compression, { head, message })) return { message, encoding: null, keepsLength: true }
  const coding = forbidsTransform(x.head) ? null : compression.codingFor(x.head)
  if (coding === null || !isAffordable(x, coding))
    return { message: withVary(message), encoding: null, keepsLength: true }
  const encoding = { coding, level: compression.levels[coding] }
  return { message: compressedFields(message, coding), encoding, keepsLength: false }
}

function isAffordable({ plane, snapshot }: Exchange, coding: ContentCoding): boolean {
  const { memory, skipped } = plane.metrics.compression
  if (memory.value + codings[coding].memory <= snapshot.limits.compressionMemory) return true
  skipped.inc()
  return false
}
