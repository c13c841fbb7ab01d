// A response on its way from the origin to the client, rewritten where the call asks for it, and in no greater haste than the client reads.

import type { BodyReader } from '../../http1/body.ts'
import type { ResponseHead } from '../../http1/response-head.ts'
import type { Rewriter } from '../ai/rewriter.ts'
import type { Exchange } from '../exchange.ts'
import type { Lease } from '../origin/lease.ts'
import { keptTrailers } from '../rewrite/headers.ts'
import { BodyWriter } from './body-writer.ts'
import { EventStream } from './event-stream.ts'
import { relayedFraming, relayedHead } from './response-heads.ts'

/** Begins to relay a response; null where it must be rewritten but can't be. */
export function relay(x: Exchange, lease: Lease, head: ResponseHead, body: BodyReader): Relaying | null {
  x.answeredAt = x.plane.clock.monotonic()
  x.status = head.status
  // The client still sends what nobody will read: its connection has no future.
  if (!x.requestBody.done) x.keepAlive = false
  if (head.isEventStream && body.framing !== 'none') x.becomeEventStream(new EventStream(head))
  const rewriter = x.ai?.rewriting?.begin(head) ?? null
  x.tap?.noteHead(head, rewriter !== null && rewriter !== false)
  if (rewriter === false) return null
  x.responseFraming = relayedFraming(x, body, rewriter !== null)
  return new Relaying(x, lease, relayedHead(x, head), rewriter)
}

export class Relaying {
  /** Whether the origin waits for the client to read. */
  isClientBehind = false
  readonly #x: Exchange
  readonly #lease: Lease
  readonly #writer: BodyWriter
  readonly #rewriter: Rewriter | null

  constructor(x: Exchange, lease: Lease, head: string, rewriter: Rewriter | null) {
    this.#x = x
    this.#lease = lease
    this.#writer = new BodyWriter(x.client, head, x.responseFraming)
    this.#rewriter = rewriter
  }

  /** Takes bytes of the body; false where they can't be understood. */
  data(bytes: Buffer): boolean {
    const x = this.#x
    x.tap?.noteResponse(bytes, x.plane.clock)
    if (this.#rewriter !== null) return this.#rewrite(this.#rewriter.push(bytes))
    this.#write(bytes)
    return true
  }

  /** Sends what has come so far. */
  flush(): void {
    if (!this.#rewriter?.holdsHead) this.#written(this.#writer.flush())
  }

  /** Takes note that the body is over; false where it was not whole, as its rewriter knows it. */
  bodyEnd(): boolean {
    return this.#rewriter === null || this.#rewrite(this.#rewriter.end())
  }

  /** Sends the end of the message. */
  end(trailers: string[] | null): void {
    this.#writer.end(keptTrailers(this.#x.responseChanges, trailers))
  }

  /** Sends what came sound before a fault, where the client has some of it already; while nothing was sent, an error can still take its place. */
  breakOff(): void {
    if (this.#x.stage === 'begun') this.#writer.flush()
  }

  #rewrite(bytes: Buffer | null | false): boolean {
    if (bytes === false) return false
    if (bytes === null) return true
    this.#x.tap?.noteRelayed(bytes)
    this.#write(bytes)
    return true
  }

  #write(bytes: Buffer): void {
    const x = this.#x
    x.bytesOut += bytes.length
    if (x.eventStream !== null) x.eventStream.note(bytes)
    this.#written(this.#writer.data(bytes))
  }

  /** Lets the origin wait while the client does not read. */
  #written(mayGoOn: boolean): void {
    if (this.#writer.hasBegun) this.#x.stage = 'begun'
    if (mayGoOn) return
    this.isClientBehind = true
    if (this.#lease.isHeld) this.#lease.pause()
  }
}
