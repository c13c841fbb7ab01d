// Metrics on their way to a collector: all of them, at an interval, as of that moment.

import type { Clock } from '../base/clock.ts'
import type { Logger } from '../log/log.ts'
import type { Collector } from './collector.ts'
import { encodeMetrics, type MetricFamily, type Sender } from './metric-message.ts'

interface MetricExporterParts {
  readonly collector: Pick<Collector, 'send' | 'close'>
  readonly sender: Sender
  readonly clock: Clock
  readonly log: Logger
  /** Ms. */
  readonly interval: number
  /** Reads the metrics of all processes. */
  readonly read: () => Promise<readonly MetricFamily[]>
}

export class MetricExporter {
  readonly #parts: MetricExporterParts
  readonly #since: number
  readonly #timer: NodeJS.Timeout
  #sending: Promise<void> | null = null

  constructor(parts: MetricExporterParts) {
    this.#parts = parts
    this.#since = parts.clock.now()
    this.#timer = setInterval(() => void this.#export(), parts.interval).unref()
  }

  /** Sends the last numbers, within `grace` ms. */
  async close(grace: number): Promise<void> {
    clearInterval(this.#timer)
    const over = AbortSignal.timeout(grace)
    const sent = (this.#sending ?? Promise.resolve()).then(() => this.#export())
    await Promise.race([sent, new Promise<void>(resolve => over.addEventListener('abort', () => resolve()))])
    this.#parts.collector.close()
  }

  /** Waits for the export that is under way, if there is one: two never overtake each other. */
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
      await collector.send(
        'metrics',
        encodeMetrics(families, sender, { since: this.#since, now: clock.now() }),
      )
    } catch (cause) {
      log.error({ err: cause }, 'reading metrics for export failed: internal error')
    }
  }
}
