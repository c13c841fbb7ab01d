// Whether a response would be compressed, as far as that is known beforehand.

import type { CompressionConfig } from '../../config/model/compression-config.ts'
import type { ExplainedCompression } from '../../zones/explanation.ts'
import { forbidsTransform } from '../encoding/compressible.ts'
import { acceptEncodingOf } from '../encoding/compression.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** Returns the coding, or why there is none. */
export function compressionOf(x: Exchange): ExplainedCompression {
  const { head, ai } = x
  const { compression: compiled, config } = x.route!
  if (ai !== null) return uncompressed('Responses of AI routes pass as they are.')
  if (compiled === null || config.compression === null) return uncompressed('Off for this route.')
  if (forbidsTransform(head)) return uncompressed('The request says Cache-Control: no-transform.')
  const encoding = compiled.codingFor(head)
  const line = acceptEncodingOf(head)
  if (line === null) return uncompressed('The request has no Accept-Encoding.')
  if (encoding === null) return uncompressed(preferenceOf(config.compression))
  const { types, minimum } = config.compression
  return { encoding, reason: dependence, condition: { types, minimum } }
}

const dependence =
  'It depends on the response: its type and length, whether it is complete and not encoded yet, and whether a field forbids changes.'

function uncompressed(reason: string): ExplainedCompression {
  return { encoding: null, reason, condition: null }
}

function preferenceOf({ encodings }: CompressionConfig): string {
  return `Accept-Encoding prefers none of ${encodings.join(', ')}.`
}
