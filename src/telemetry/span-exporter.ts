// Sends spans to a collector in batches, from a bounded queue; new ones are dropped when it is full.

import type { Tally } from '../metrics/counters/distribution.ts'
import type { Collector } from './collector.ts'
import type { Sender } from './otlp.ts'
import { encodeSpan, spanMessage } from './span-message.ts'
import type { Span, SpanSink } from './span.ts'

interface SpanCounts {
  readonly exported: Tally
  readonly queue_full: Tally
  readonly export_failed: Tally
}

interface SpanExporterParts {
  readonly collector: Pick<Collector, 'send' | 'close'>
  readonly sender: Sender
  readonly counts: SpanCounts
  readonly queue: number
  /** The maximum ms that a span waits for others. */
  readonly delay?: number
}

export class SpanExporter implements SpanSink {
  readonly #parts: SpanExporterParts
  #queue: string[] = []
  #timer: NodeJS.Timeout | null = null
  #sending: Promise<void> | null = null

  constructor(parts: SpanExporterParts) {
    this.#parts = parts
  }

  take(spans: readonly Span[]): void {
    const { counts, queue, delay = usualDelay } = this.#parts
    for (const span of spans) {
      if (this.#queue.length < queue) this.#queue.push(encodeSpan(span))
      else counts.queue_full.inc()
    }
    if (this.#queue.length >= maxBatch) this.#begin()
    else this.#timer ??= setTimeout(() => this.#begin(), delay).unref()
  }

  async close(grace: number): Promise<void> {
    const over = AbortSignal.timeout(grace)
    const sent = this.#flush()
    await Promise.race([sent, new Promise<void>(resolve => over.addEventListener('abort', () => resolve()))])
    this.#parts.counts.export_failed.value += this.#queue.length
    this.#queue = []
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#parts.collector.close()
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0 || this.#sending !== null) {
      this.#begin()
      await this.#sending
    }
  }

  #begin(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#sending !== null || this.#queue.length === 0) return
    this.#sending = this.#send(this.#queue.splice(0, maxBatch)).finally(() => {
      this.#sending = null
      if (this.#queue.length > 0) this.take([])
    })
  }

  async #send(batch: readonly string[]): Promise<void> {
    const { collector, sender, counts } = this.#parts
    const rejected = Math.min(await collector.send('traces', spanMessage(batch, sender)), batch.length)
    counts.exported.value += batch.length - rejected
    counts.export_failed.value += rejected
  }
}

const usualDelay = 2_000
const maxBatch = 512
