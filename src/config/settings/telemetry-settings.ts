// The settings of what others get to know of requests.

import type { TelemetryConfig } from '../telemetry-config.ts'
import { fraction, oneOf, truth } from './rules.ts'
import { group, optional, scalar, type Values } from './shape.ts'

const fields = {
  trace_context: optional(scalar(truth), false),
  continue: optional(scalar(oneOf('all', 'trusted_proxies')), 'all' as const),
  sample: optional(scalar(fraction), 0.01),
}

export const telemetry = group(fields)

/** Returns what is told of requests. */
export function resolveTelemetry(settings: Values<typeof fields>): TelemetryConfig {
  const { trace_context: isTraced, continue: continues, sample } = settings
  return { trace: isTraced ? { continues, sample } : null }
}
