// A response body on its way through an encoder: in one call if it is small and whole, at half the cost, else
// through the thread pool. It is flushed when the origin pauses, and now and then.

import type { ContentCoding } from '../../config/model/compression-config.ts'
import { deliverBug } from '../exchange/deliver.ts'
import type { Exchange, ResponseSink } from '../exchange/exchange.ts'
import { guarded } from '../../base/guarded.ts'
import { compressedTrailers } from '../encoding/compressed-fields.ts'
import { codings, type Encoded, type Encoder, type Encoding } from '../encoding/encoders.ts'
import { Finishing } from './finishing.ts'

const maxQueued = 64 * 1024

const pauseAfter = 20

/** While more bytes keep coming. */
const maxHeldTime = 100

interface BodySource {
  resume(): void
}

export class CompressedBody implements ResponseSink, Encoded {
  readonly coding: ContentCoding
  bytesIn = 0
  readonly #x: Exchange
  readonly #sink: ResponseSink
  readonly #level: number
  readonly #source: BodySource
  readonly #crashed = (bug: unknown): void => this.#crash(bug)
  readonly #encoded = guarded<unknown>(() => this.#onEncoded(), this.#crashed)
  #encoder: Encoder | null = null
  #queue: Buffer[] = []
  #queuedBytes = 0
  #isBusy = false
  #holdsBack = false
  #isFull = false
  #pause: NodeJS.Timeout | null = null
  /** Monotonic ms; 0 for nothing held back. */
  #heldSince = 0
  #isFlushDue = false
  #isFlushDueNow = false
  #finishing: Finishing | null = null
  #trailers: readonly string[] | null = null
  #isOver = false

  constructor(x: Exchange, sink: ResponseSink, { coding, level }: Encoding, source: BodySource) {
    this.#x = x
    this.#sink = sink
    this.coding = coding
    this.#level = level
    this.#source = source
    const { responses, memory } = x.plane.metrics.compression
    responses[coding].inc()
    memory.value += codings[coding].memory
  }

  get hasBegun(): boolean {
    return this.#sink.hasBegun
  }

  /** Some of a complete body is still to be encoded. */
  get isFinishing(): boolean {
    return this.#finishing !== null
  }

  data(bytes: Buffer): boolean {
    this.bytesIn += bytes.length
    this.#queue.push(bytes)
    this.#queuedBytes += bytes.length
    const isSmall = this.#encoder === null && this.#queuedBytes <= codings[this.coding].maxSyncBytes
    if (isSmall && !this.#isPrompt) return true
    this.#encode()
    this.#isFull = this.#queuedBytes > maxQueued
    return !this.#isFull
  }

  flush(): boolean {
    if (this.#queuedBytes > 0 || this.#holdsBack) this.#awaitPause()
    return this.#sink.flush()
  }

  bodyEnd(): void {
    if (this.#encoder !== null) return
    const bytes = codings[this.coding].encodeSync(this.#take(), this.#level)
    this.#x.bytesOut += bytes.length
    this.#sink.data(bytes)
  }

  end(trailers: readonly string[] | null): void {
    this.#trailers = compressedTrailers(trailers)
    if (this.#encoder === null) {
      this.#sink.end(this.#trailers)
      return this.close()
    }
    this.#finishing = new Finishing(this.#x, this)
    this.#x.handler = this.#finishing
    if (!this.#isBusy) this.#encode()
  }

  resume(): boolean {
    this.#encoder?.resume()
    return !this.#isFull
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#queue = []
    if (this.#pause !== null) clearTimeout(this.#pause)
    this.#encoder?.destroy()
    const { memory, bytesIn, bytesOut } = this.#x.plane.metrics.compression
    memory.value -= codings[this.coding].memory
    bytesIn[this.coding].value += this.bytesIn
    bytesOut[this.coding].value += this.#x.bytesOut
  }

  get #isPrompt(): boolean {
    return this.#x.eventStream !== null
  }

  #take(): Buffer {
    const bytes = this.#queue.length === 1 ? this.#queue[0]! : Buffer.concat(this.#queue)
    this.#queue = []
    this.#queuedBytes = 0
    return bytes
  }

  #encode(): void {
    if (this.#isBusy) return
    const encoder = (this.#encoder ??= this.#open())
    if (this.#queuedBytes > 0) {
      this.#isBusy = true
      this.#isFlushDueNow = this.#isFlushDue
      this.#isFlushDue = false
      this.#holdsBack = !this.#isPrompt
      encoder.write(this.#take(), this.#encoded)
    } else if (this.#finishing !== null) encoder.end()
  }

  #open(): Encoder {
    const encoder = codings[this.coding].open(this.#level, this.#isPrompt)
    const on = <T>(event: string, handle: (what: T) => void) =>
      encoder.on(event, guarded(handle, this.#crashed))
    on('data', (bytes: Buffer) => this.#send(bytes))
    on('end', () => this.#finish())
    on('error', this.#crashed)
    return encoder
  }

  #onEncoded(): void {
    if (this.#isOver) return
    this.#isBusy = false
    if (this.#isFlushDueNow) this.#release()
    if (this.#queuedBytes > 0 || this.#finishing !== null) this.#encode()
    if (!this.#isFull) return
    this.#isFull = false
    this.#source.resume()
  }

  #send(bytes: Buffer): void {
    // An encoder that was destroyed may still emit.
    if (this.#isOver) return
    const x = this.#x
    x.bytesOut += bytes.length
    const hasRoom = this.#sink.data(bytes)
    const hasRoomAfterFlush = this.#sink.flush()
    x.stage = 'begun'
    this.#finishing?.extendDeadline()
    if (!hasRoom || !hasRoomAfterFlush) this.#encoder!.pause()
  }

  #finish(): void {
    const x = this.#x
    x.handler = null
    this.#sink.end(this.#trailers)
    this.close()
    x.client.finish(x)
  }

  #awaitPause(): void {
    const now = this.#x.plane.clock.monotonic()
    if (this.#heldSince === 0) this.#heldSince = now
    else if (now - this.#heldSince > maxHeldTime - pauseAfter) return
    if (this.#pause !== null) return void this.#pause.refresh()
    const onPause = guarded(() => this.#onPause(), this.#crashed)
    this.#pause = setTimeout(onPause, pauseAfter).unref()
  }

  #onPause(): void {
    this.#heldSince = 0
    if (this.#queuedBytes > 0) {
      this.#isFlushDue = true
      this.#encode()
    } else if (this.#isBusy) this.#isFlushDueNow = true
    else this.#release()
  }

  #release(): void {
    this.#isFlushDueNow = false
    if (!this.#holdsBack || this.#finishing !== null) return
    this.#holdsBack = false
    this.#encoder!.flush(codings[this.coding].flush)
  }

  #crash(bug: unknown): void {
    if (this.#isOver) return
    this.close()
    if (this.#x.stage === 'none') this.#x.compressed = null
    deliverBug(this.#x, bug)
  }
}
