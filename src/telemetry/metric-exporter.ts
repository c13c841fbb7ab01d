// Exports metrics to a collector: all of them, at an interval.

import type { Clock } from '../base/clock.ts'
import type { Logger } from '../log/log.ts'
import type { Collector } from './collector.ts'
import { type MetricFamily, metricMessage } from './metric-message.ts'
import type { Sender } from './otlp.ts'

interface MetricExporterParts {
  readonly collector: Pick<Collector, 'send' | 'close'>
  readonly sender: Sender
  readonly clock: Clock
  /** When counting began, in wall-clock ms. */
  readonly since: number
  readonly log: Logger
  readonly interval: number
  readonly read: () => Promise<readonly MetricFamily[]>
}

export class MetricExporter {
  readonly #parts: MetricExporterParts
  /** In wall-clock ms; earlier than that of the parts once the clock was set back behind it. */
  #since: number
  readonly #timer: NodeJS.Timeout
  #sending: Promise<void> | null = null

  constructor(parts: MetricExporterParts) {
    this.#parts = parts
    this.#since = parts.since
    this.#timer = setInterval(() => void this.#export(), parts.interval).unref()
  }

  async close(grace: number): Promise<void> {
    clearInterval(this.#timer)
    const over = AbortSignal.timeout(grace)
    const sent = (this.#sending ?? Promise.resolve()).then(() => this.#export())
    await Promise.race([sent, new Promise<void>(resolve => over.addEventListener('abort', () => resolve()))])
    this.#parts.collector.close()
  }

  /** Waits for a running export first, so that two never overtake each other. */
  #export(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null
    })
    return this.#sending
  }

  async #send(): Promise<void> {
    const { collector, sender, clock, log, read } = this.#parts
    try {
      const families = await read()
      const now = clock.now()
      this.#since = Math.min(this.#since, now)
      await collector.send('metrics', metricMessage(families, sender, { since: this.#since, now }))
    } catch (cause) {
      log.error({ err: cause }, 'reading metrics for export failed: internal error')
    }
  }
}
