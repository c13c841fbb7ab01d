// Spans on their way to a collector: they wait in a bounded queue, and go in batches. When the queue is full, new ones are dropped and counted.

import type { Tally } from '../metrics/counters/distribution.ts'
import type { Collector } from './collector.ts'
import type { Sender } from './metric-message.ts'
import { SpanBatch } from './span-batch.ts'
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
  /** Spans are added to the last one. */
  readonly #waiting: SpanBatch[] = []
  /** A batch that was sent, whose memory the next one takes. */
  #spare: SpanBatch | null = null
  /** How many spans wait in all batches. */
  #count = 0
  #timer: NodeJS.Timeout | null = null
  /** The batch under way; null for none. */
  #sending: Promise<void> | null = null

  constructor(parts: SpanExporterParts) {
    this.#parts = parts
  }

  take(spans: readonly Span[]): void {
    const { counts, queue, delay = usualDelay } = this.#parts
    for (const span of spans) {
      if (this.#count < queue) this.#add(span)
      else counts.queue_full.inc()
    }
    if (this.#count >= mostInBatch) this.#begin()
    else this.#timer ??= setTimeout(() => this.#begin(), delay).unref()
  }

  /** Sends what waits, within `grace` ms; then drops the rest. */
  async close(grace: number): Promise<void> {
    const over = AbortSignal.timeout(grace)
    const sent = this.#flush()
    await Promise.race([sent, new Promise<void>(resolve => over.addEventListener('abort', () => resolve()))])
    this.#parts.counts.export_failed.value += this.#count
    this.#waiting.length = 0
    this.#count = 0
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#parts.collector.close()
  }

  #add(span: Span): void {
    let batch = this.#waiting.at(-1)
    if (batch === undefined || batch.count === mostInBatch) {
      batch = this.#spare ?? new SpanBatch(this.#parts.sender)
      this.#spare = null
      this.#waiting.push(batch)
    }
    batch.add(span)
    this.#count++
  }

  async #flush(): Promise<void> {
    while (this.#count > 0 || this.#sending !== null) {
      this.#begin()
      await this.#sending
    }
  }

  #begin(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#sending !== null) return
    const batch = this.#waiting.shift()
    if (batch === undefined) return
    this.#count -= batch.count
    this.#sending = this.#send(batch).finally(() => {
      this.#sending = null
      if (this.#count > 0) this.take([])
    })
  }

  async #send(batch: SpanBatch): Promise<void> {
    const { collector, counts } = this.#parts
    const rejected = await collector.send('traces', batch.end())
    const lost = Math.min(rejected, batch.count)
    counts.exported.value += batch.count - lost
    counts.export_failed.value += lost
    if (rejected === Number.POSITIVE_INFINITY) return
    batch.clear()
    this.#spare = batch
  }
}

const usualDelay = 2_000
const mostInBatch = 512
