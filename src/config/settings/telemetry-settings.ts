// The settings of telemetry sent to other systems.

import { hour, second } from '../../base/units.ts'
import type { Findings } from '../file/mistake.ts'
import type { OtlpConfig, TelemetryConfig } from '../model/telemetry-config.ts'
import { baseUrl } from '../shape/base-url.ts'
import {
  certificates,
  duration,
  fraction,
  headerName,
  headerValue,
  lineOfText,
  matching,
  oneOf,
  truth,
  whole,
} from '../shape/rules.ts'
import {
  dictionary,
  group,
  mapping,
  optional,
  placed,
  scalar,
  unwritten,
  type Value,
} from '../shape/shape.ts'

const attributeName = matching(
  /^[a-z][a-z0-9_.]{0,127}$/,
  'must be the name of an attribute: lower-case letters, digits, dots and underscores',
)

// Unprinted, since a credential may have been written in place of a mapping.
const otlp = mapping(
  {
    url: optional(scalar(baseUrl('http://127.0.0.1:4318'), { unprinted: true }), null),
    headers: optional(
      dictionary(headerName, scalar(headerValue, { unprinted: true })),
      new Map<string, never>(),
    ),
    ca: optional(scalar(certificates, { unprinted: true }), null),
    traces: optional(scalar(truth), true),
    metrics: optional(scalar(truth), true),
    interval: optional(scalar(duration(second, hour)), 60 * second),
    timeout: optional(scalar(duration(100, 60 * second)), 10 * second),
    queue: optional(scalar(whole(1, 100_000)), 2_048),
    service: optional(scalar(lineOfText(255)), 'gatehouse'),
    attributes: optional(dictionary(attributeName, scalar(lineOfText(1_024))), new Map<string, never>()),
  },
  { unprinted: true },
)

const shape = {
  trace_context: optional(placed(scalar(truth)), unwritten<boolean | null>('telemetry.trace_context', null)), // null: on where traces are sent
  continue: optional(scalar(oneOf('all', 'trusted_proxies')), 'all' as const),
  sample: optional(scalar(fraction), 0.01),
  otlp: optional(otlp, null),
}

export const telemetry = group(shape)

/** Returns the telemetry configuration; records an export of traces without any tracing. */
export function resolveTelemetry(
  settings: Value<(typeof telemetry)['shape']>,
  findings: Findings,
): TelemetryConfig {
  const { trace_context: isTraced, continue: continues, sample } = settings
  const otlp = resolveOtlp(settings.otlp)
  const sendsTraces = otlp?.traces === true
  if (sendsTraces && isTraced.value === false)
    findings.flaw(isTraced, 'must be on for otlp to send traces: set it to on, or otlp.traces to off')
  return { trace: (isTraced.value ?? sendsTraces) ? { continues, sample } : null, otlp }
}

function resolveOtlp(settings: Value<typeof otlp> | null): OtlpConfig | null {
  if (settings === null || settings.url === null) return null
  const { url, headers, attributes, ...rest } = settings
  return { ...rest, url, headers: written(headers), attributes: written(attributes) }
}

function written(values: ReadonlyMap<string, string | null>): (readonly [string, string])[] {
  return [...values].flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
}
