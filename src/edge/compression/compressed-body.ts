// The body of a response on its way through an encoder. A small one that comes in one piece is encoded at once, which costs half as much; anything else goes
// through the thread pool, so that nobody else waits. What the origin has sent is never held back for long: all that came is flushed when it pauses, and now and then while it
// does not.

import type { ContentCoding } from '../../config/model/compression-config.ts'
import { deliverBug } from '../exchange/deliver.ts'
import type { Exchange, ResponseSink } from '../exchange/exchange.ts'
import { guarded } from '../../base/guarded.ts'
import { compressedTrailers } from '../encoding/compressed-fields.ts'
import { codings, type Encoder } from '../encoding/encoders.ts'
import type { Encoded, Encoding } from '../encoding/encoding.ts'
import { Finishing } from './finishing.ts'

/** Bytes that may wait for the encoder before the origin has to. */
const mostWaiting = 64 * 1024

/** Ms without a byte after which the origin counts as pausing. */
const pauseAfter = 20

/** Ms after which what came is flushed even where more keeps coming. */
const longestHeld = 100

/** Where the body comes from. */
interface BodySource {
  /** There is room for more, after `data` returned false. */
  goOn(): void
}

export class CompressedBody implements ResponseSink, Encoded {
  readonly coding: ContentCoding
  taken = 0
  readonly #x: Exchange
  readonly #sink: ResponseSink
  readonly #level: number
  readonly #source: BodySource
  readonly #crashed = (bug: unknown): void => this.#crash(bug)
  readonly #encoded = guarded<unknown>(() => this.#wasEncoded(), this.#crashed)
  /** Null until there is more than one piece. */
  #encoder: Encoder | null = null
  /** What the encoder is yet to be given. */
  #waiting: Buffer[] = []
  #waitingBytes = 0
  /** Whether the encoder works on a piece, and whether it may hold back some of what it got. */
  #isBusy = false
  #holdsBack = false
  /** Whether the origin waits for the encoder. */
  #isFull = false
  #pause: NodeJS.Timeout | null = null
  /** Monotonic ms since which something is held back that is not about to be flushed; 0 for nothing. */
  #heldSince = 0
  /** Whether what waits is to be flushed once it is encoded, and whether what is being encoded is. */
  #isDue = false
  #isDueNow = false
  /** Once the origin has sent all. */
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

  /** Whether some is still to be sent though the origin has sent all: the exchange is then finished from here. */
  get isFinishing(): boolean {
    return this.#finishing !== null
  }

  data(bytes: Buffer): boolean {
    this.taken += bytes.length
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    const isSmall = this.#encoder === null && this.#waitingBytes <= codings[this.coding].atOnce
    if (isSmall && !this.#isPrompt) return true
    this.#encode()
    this.#isFull = this.#waitingBytes > mostWaiting
    return !this.#isFull
  }

  /** Sends the head if that is still to go, and sees to it that nothing that came of the body is held back if nothing follows. */
  flush(): boolean {
    if (this.#waitingBytes > 0 || this.#holdsBack) this.#awaitPause()
    return this.#sink.flush()
  }

  /** Encodes a body that has come in one piece. */
  bodyEnd(): void {
    if (this.#encoder !== null) return
    const bytes = codings[this.coding].whole(this.#take(), this.#level)
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

  /** Goes on as the client reads; returns whether there is room for more. */
  goOn(): boolean {
    this.#encoder?.resume()
    return !this.#isFull
  }

  /** Frees the encoder; what it still had is not sent. */
  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#waiting = []
    if (this.#pause !== null) clearTimeout(this.#pause)
    this.#encoder?.destroy()
    const { memory, bytesIn, bytesOut } = this.#x.plane.metrics.compression
    memory.value -= codings[this.coding].memory
    bytesIn[this.coding].value += this.taken
    bytesOut[this.coding].value += this.#x.bytesOut
  }

  /** Whether each piece is sent at once: the events of a stream are. */
  get #isPrompt(): boolean {
    return this.#x.eventStream !== null
  }

  #take(): Buffer {
    const bytes = this.#waiting.length === 1 ? this.#waiting[0]! : Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    return bytes
  }

  /** Hands the encoder what waits, or the end. It has one piece at a time: what comes meanwhile is the next one. */
  #encode(): void {
    if (this.#isBusy) return
    const encoder = (this.#encoder ??= this.#open())
    if (this.#waitingBytes > 0) {
      this.#isBusy = true
      this.#isDueNow = this.#isDue
      this.#isDue = false
      this.#holdsBack = !this.#isPrompt
      encoder.write(this.#take(), this.#encoded)
    } else if (this.#finishing !== null) encoder.end()
  }

  #open(): Encoder {
    const encoder = codings[this.coding].open(this.#level, this.#isPrompt)
    encoder.on(
      'data',
      guarded((bytes: Buffer) => this.#send(bytes), this.#crashed),
    )
    encoder.on(
      'end',
      guarded(() => this.#finish(), this.#crashed),
    )
    encoder.on(
      'error',
      guarded((bug: Error) => this.#crash(bug), this.#crashed),
    )
    return encoder
  }

  #wasEncoded(): void {
    if (this.#isOver) return
    this.#isBusy = false
    if (this.#isDueNow) this.#release()
    if (this.#waitingBytes > 0 || this.#finishing !== null) this.#encode()
    if (!this.#isFull) return
    this.#isFull = false
    this.#source.goOn()
  }

  #send(bytes: Buffer): void {
    // Some may come behind the end of an encoder that was destroyed.
    if (this.#isOver) return
    const x = this.#x
    x.bytesOut += bytes.length
    const mayGoOn = this.#sink.data(bytes)
    const mayStillGoOn = this.#sink.flush()
    x.stage = 'begun'
    this.#finishing?.stay()
    if (!mayGoOn || !mayStillGoOn) this.#encoder!.pause()
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
    else if (now - this.#heldSince > longestHeld - pauseAfter) return
    if (this.#pause !== null) return void this.#pause.refresh()
    this.#pause = setTimeout(
      guarded(() => this.#onPause(), this.#crashed),
      pauseAfter,
    ).unref()
  }

  #onPause(): void {
    this.#heldSince = 0
    if (this.#waitingBytes > 0) {
      this.#isDue = true
      this.#encode()
    } else if (this.#isBusy) this.#isDueNow = true
    else this.#release()
  }

  /** Has the encoder give out what it holds back. */
  #release(): void {
    this.#isDueNow = false
    if (!this.#holdsBack || this.#finishing !== null) return
    this.#holdsBack = false
    this.#encoder!.flush(codings[this.coding].flush)
  }

  /** Ends the response as broken. */
  #crash(bug: unknown): void {
    if (this.#isOver) return
    this.close()
    if (this.#x.stage === 'none') this.#x.compressed = null
    deliverBug(this.#x, bug)
  }
}
