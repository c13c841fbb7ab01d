// Spans on their way to a collector: they wait in a bounded queue, and go in batches. When the queue is full, new ones are dropped and counted.

import type { Tally } from '../metrics/distribution.ts'
import type { Collector } from './collector.ts'
import { encodeSpans, type Sender } from './otlp.ts'
import type { Span, SpanSink } from './span.ts'

/** What becomes of spans. */
interface SpanCounts {
  readonly exported: Tally
  readonly queue_full: Tally
  readonly export_failed: Tally
}

interface SpanExporterParts {
  readonly collector: Pick<Collector, 'send' | 'close'>
  readonly sender: Sender
  readonly counts: SpanCounts
  /** The most spans that wait. */
  readonly queue: number
  /** The most ms that a span waits for others. */
  readonly delay?: number
}

export class SpanExporter implements SpanSink {
  readonly #parts: SpanExporterParts
  #waiting: Span[] = []
  #timer: NodeJS.Timeout | null = null
  /** The batch under way; null for none. */
  #sending: Promise<void> | null = null

  constructor(parts: SpanExporterParts) {
    this.#parts = parts
  }

  take(spans: readonly Span[]): void {
    const { counts, queue, delay = usualDelay } = this.#parts
    for (const span of spans) {
      if (this.#waiting.length < queue) this.#waiting.push(span)
      else counts.queue_full.inc()
    }
    if (this.#waiting.length >= mostInBatch) this.#begin()
    else this.#timer ??= setTimeout(() => this.#begin(), delay).unref()
  }

  /** Sends what waits, within `grace` ms; then drops the rest. */
  async close(grace: number): Promise<void> {
    const over = AbortSignal.timeout(grace)
    const sent = this.#flush()
    await Promise.race([sent, new Promise<void>(resolve => over.addEventListener('abort', () => resolve()))])
    this.#parts.counts.export_failed.value += this.#waiting.length
    this.#waiting = []
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#parts.collector.close()
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#sending !== null) {
      this.#begin()
      await this.#sending
    }
  }

  #begin(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#sending !== null || this.#waiting.length === 0) return
    this.#sending = this.#sendBatch(this.#waiting.splice(0, mostInBatch)).finally(() => {
      this.#sending = null
      if (this.#waiting.length > 0) this.take([])
    })
  }

  async #sendBatch(spans: readonly Span[]): Promise<void> {
    const { collector, sender, counts } = this.#parts
    const isTaken = await collector.send('traces', encodeSpans(spans, sender))
    const counted = isTaken ? counts.exported : counts.export_failed
    counted.value += spans.length
  }
}

const usualDelay = 2_000
const mostInBatch = 512
