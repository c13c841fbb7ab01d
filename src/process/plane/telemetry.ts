// The export of a process to an OpenTelemetry collector. Its code is loaded only if one is configured.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { systemClock } from '../../base/clock.ts'
import type { Config } from '../../config/model/config.ts'
import type { OtlpConfig } from '../../config/model/telemetry-config.ts'
import type { Logger } from '../../log/log.ts'
import type { Metrics, Snapshot } from '../../metrics/metrics.ts'
import type { MetricExporter } from '../../telemetry/metric-exporter.ts'
import type { SpanExporter } from '../../telemetry/span-exporter.ts'
import { version } from '../system/version.ts'

/** How long an ending process waits for the collector, in ms. */
export const lastExport = 2_000

export async function openSpans(
  { telemetry: { otlp } }: Config,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Logger },
): Promise<SpanExporter | null> {
  if (otlp === null || !otlp.traces) return null
  const { SpanExporter } = await import('../../telemetry/span-exporter.ts')
  const collector = await openCollector(otlp, log)
  return new SpanExporter({
    collector,
    sender: senderOf(otlp),
    counts: metrics.edge.spans,
    queue: otlp.queue,
  })
}

export async function openMetricExport(
  { telemetry: { otlp } }: Config,
  log: Logger,
  read: () => Promise<Snapshot>,
): Promise<MetricExporter | null> {
  if (otlp === null || !otlp.metrics) return null
  const { MetricExporter } = await import('../../telemetry/metric-exporter.ts')
  const collector = await openCollector(otlp, log)
  const { interval } = otlp
  const means = { collector, sender: senderOf(otlp), clock: systemClock, log }
  return new MetricExporter({ ...means, since: performance.timeOrigin, interval, read })
}

async function openCollector(config: OtlpConfig, log: Logger) {
  const { Collector } = await import('../../telemetry/collector.ts')
  return new Collector({ config, version, clock: systemClock, log })
}

/** The same in the spans and in the metrics of this process. */
const instance = randomUUID()

/** Semantic conventions for resources. */
function senderOf({ service, attributes }: OtlpConfig) {
  return {
    version,
    attributes: {
      'service.name': service,
      'service.version': version,
      'service.instance.id': instance,
      'host.name': hostname(),
      'process.pid': process.pid,
      ...Object.fromEntries(attributes),
    },
  }
}
