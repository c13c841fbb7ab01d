// Which of the traces that begin here are sampled: their ids decide, so that every other sampler of the same share decides alike (OpenTelemetry, consistent
// probability sampling).

import type { TraceConfig } from '../../config/model/telemetry-config.ts'

/** How requests take part in traces. */
export interface Tracing {
  readonly continues: TraceConfig['continues']
  /** What the random digits of a trace id must reach for it to be sampled; null where none is. */
  readonly threshold: string | null
}

/** Prepares what is configured for the decisions about single requests. */
export function tracingOf({ continues, sample }: TraceConfig): Tracing {
  const threshold = BigInt(Math.round((1 - sample) * ids))
  return {
    continues,
    threshold: threshold < ids ? threshold.toString(16).padStart(randomDigits, '0') : null,
  }
}

/** Whether a trace is sampled whose id ends with these hex digits, of which the last 14 are random. */
export function isSampled(id: string, { threshold }: Tracing): boolean {
  if (threshold === null) return false
  const from = id.length - randomDigits
  for (let i = 0; i < randomDigits; i++) {
    const digit = id.charCodeAt(from + i)
    const least = threshold.charCodeAt(i)
    if (digit !== least) return digit > least
  }
  return true
}

/** Those that level 2 of W3C Trace Context asks to be random (section 3.2.2.5.2): 56 bits. */
const randomDigits = 14
const ids = 16 ** randomDigits
