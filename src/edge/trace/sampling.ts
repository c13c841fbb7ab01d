// Samples traces by their ids, so that every sampler with the same share agrees (OpenTelemetry, consistent
// probability sampling).

import type { TraceConfig } from '../../config/model/telemetry-config.ts'

export interface Tracing {
  readonly continues: TraceConfig['continues']
  /** Null samples nothing. */
  readonly threshold: string | null
}

export function tracingOf({ continues, sample }: TraceConfig): Tracing {
  const threshold = BigInt(Math.round((1 - sample) * ids))
  return {
    continues,
    threshold: threshold < ids ? threshold.toString(16).padStart(randomDigits, '0') : null,
  }
}

export function isSampled(id: string, { threshold }: Tracing): boolean {
  if (threshold === null) return false
  const from = id.length - randomDigits
  for (let i = 0; i < randomDigits; i++) {
    const digit = id.charCodeAt(from + i)
    const thresholdDigit = threshold.charCodeAt(i)
    if (digit !== thresholdDigit) return digit > thresholdDigit
  }
  return true
}

/** Random by level 2 of W3C Trace Context (section 3.2.2.5.2): 56 bits. */
const randomDigits = 14
const ids = 16 ** randomDigits
