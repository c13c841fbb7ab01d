// A response on its way to the client, rewritten if the call needs it.

import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import { ResponseScan } from '../../mcp/response-scan.ts'
import { asEventStream, EventFrames, hasEventFrames } from '../ai-call/event-frames.ts'
import type { Flight } from '../../answers/flight.ts'
import { shareHead } from '../answers/share.ts'
import type { Tap } from '../ai-call/tap.ts'
import type { Rewriter } from '../ai-call/rewriter.ts'
import { CompressedBody } from '../compression/compressed-body.ts'
import type { Encoding } from '../encoding/encoders.ts'
import { decideCompression } from '../compression/decide.ts'
import type { Exchange, ResponseSink } from '../exchange/exchange.ts'
import type { Lease } from '../origin/lease.ts'
import { remainingFields } from '../rewrite/headers.ts'
import { EventStream } from '../exchange/event-stream.ts'
import { guardResponse, type ResponseGuard } from '../guard/guard-response.ts'
import { type HeldResponse, holdResponse } from '../guard/held-response.ts'
import { DeferredSink } from './deferred-sink.ts'
import { relayedFraming, relayedHead, rewritten } from './response-heads.ts'
import type { ResponseBody } from '../origin/response-handler.ts'

interface Circumstances {
  /** The bytes of a body that was held to its end. */
  readonly whole: Buffer | null
  readonly isDecoded: boolean
  readonly owner: RelayOwner
}

interface RelayOwner {
  /** Some of what was held back may go on, or nothing may. */
  decided(): void
  crashed(bug: unknown): void
}

/** Null if the response must be rewritten but cannot be; a refusal if the guard cannot look at it. */
export function relay(
  x: Exchange,
  lease: Lease,
  head: ResponseHead,
  body: ResponseBody,
  { whole, isDecoded, owner }: Circumstances,
): Relaying | Refusal | null {
  x.releaseLongWork()
  x.status = head.status
  const { compression } = x.route!
  const decision = compression === null ? null : decideCompression(x, compression, head, rewritten(x, head))
  const encoding = decision === null || body.framing === 'none' ? null : decision.encoding
  if (head.isEventStream && body.framing !== 'none')
    x.becomeEventStream(new EventStream(head.isEncoded || encoding !== null, x.audience.numbersEvents))
  if (x.mcp !== null) x.mcp.response = head.isEncoded ? null : new ResponseScan()
  const rewriter = x.ai?.rewriting?.begin(head, whole) ?? null
  // The log has the events, and reads their usage.
  const frames =
    x.tap !== null && x.ai!.provider!.hasFrames && hasEventFrames(head) ? new EventFrames() : null
  x.tap?.noteHead(frames === null ? head : asEventStream(head), rewriter !== null && rewriter !== false)
  if (rewriter === false) return null
  const guard = x.ai === null || body.framing === 'none' ? null : guardResponse(x, x.ai, head)
  if (guard !== null && 'error' in guard) return guard
  const held = x.ai === null || body.framing === 'none' ? null : holdResponse(x, x.ai, head)
  if (held !== null && 'error' in held) return held
  if (guard !== null || held !== null) x.tap?.noteHead(frames === null ? head : asEventStream(head), true)
  const budget = x.ai === null ? null : x.ai.budget
  if (budget !== null && x.tap?.head?.isEventStream && !head.isEncoded)
    x.plane.checkpoints.add(budget, x.tap, x.sentAt, x.respondedAt)
  x.responseFraming = relayedFraming(
    body,
    isDecoded || rewriter !== null || guard !== null || held !== null || encoding !== null,
  )
  const open = () => x.client.relay(x, relayedHead(x, head, decision))
  const isHeld = guard?.holdsHead === true || held !== null
  const sink = isHeld ? new DeferredSink(open) : open()
  const flight = x.ai === null ? null : shareHead(x.ai, head, isHeld)
  return new Relaying(x, lease, sink, { rewriter, guard, held, frames, encoding, flight, owner })
}

interface Changes {
  readonly rewriter: Rewriter | null
  readonly guard: ResponseGuard | null
  readonly held: HeldResponse | null
  readonly owner: RelayOwner
  /** Decodes what the log notes. */
  readonly frames: EventFrames | null
  readonly encoding: Encoding | null
  /** For others that get the response. */
  readonly flight: Flight | null
}

export class Relaying {
  isClientBehind = false
  readonly copiesData: boolean
  readonly #x: Exchange
  readonly #lease: Lease
  #sink: ResponseSink
  readonly #flight: Flight | null
  readonly #rewriter: Rewriter | null
  readonly #guard: ResponseGuard | null
  readonly #held: HeldResponse | null
  readonly #owner: RelayOwner
  readonly #compressed: CompressedBody | null
  readonly #frames: EventFrames | null

  constructor(
    x: Exchange,
    lease: Lease,
    sink: ResponseSink,
    { rewriter, guard, held, owner, frames, encoding, flight }: Changes,
  ) {
    this.#x = x
    this.#lease = lease
    this.#rewriter = rewriter
    this.#guard = guard
    this.#held = held
    this.#owner = owner
    if (held !== null) held.owner = this
    this.#frames = frames
    this.#compressed = encoding === null ? null : new CompressedBody(x, sink, encoding, this)
    this.#sink = this.#compressed ?? sink
    const isUnchanged = rewriter === null && guard === null && held === null
    this.copiesData = isUnchanged && flight === null && this.#sink.copiesData === true
    this.#flight = flight
    if (flight !== null) flight.resume = () => this.resume()
    if (encoding !== null) x.compressed = this.#compressed
  }

  /** Why nothing more may be sent, if the guard has said so. */
  get refusal(): Refusal | null {
    const refusal = this.#guard === null ? null : this.#guard.refusal
    return refusal === null && this.#held !== null ? this.#held.refusal : refusal
  }

  /** Whether the webhook of the guard has still to let something pass. */
  get isAsking(): boolean {
    return this.#held?.isAsking === true
  }

  /** Whether it is not for the provider that the response does not go on. */
  get isHeldUp(): boolean {
    return this.#held?.isAsking === true && this.#held.isFull
  }

  /** False if the bytes cannot be rewritten, or the guard stops the response. */
  data(bytes: Buffer): boolean {
    const x = this.#x
    if (x.tap !== null) this.#note(x.tap, bytes)
    if (this.#rewriter !== null) return this.#rewrite(this.#rewriter.push(bytes))
    if (this.#guard !== null) return this.#guarded(this.#guard, this.#guard.push(bytes))
    return this.#passOn(bytes, false)
  }

  flush(): void {
    this.#held?.flush()
    if (this.isHeldUp && this.#lease.isHeld) this.#lease.pause()
    if (!this.#rewriter?.holdsHead && !this.#guard?.holdsHead) this.#written(this.#sink.flush())
  }

  /** False if the rewriter finds the body incomplete, or the guard stops the response. */
  bodyEnd(): boolean {
    const guard = this.#guard
    const isRewritten = this.#rewriter === null || this.#rewrite(this.#rewriter.end())
    const isWhole = isRewritten && (guard === null || this.#guarded(guard, guard.end()))
    if (isWhole) this.#held?.end(guard !== null && this.#x.ai!.isGuarded)
    this.#compressed?.bodyEnd()
    return isWhole && this.refusal === null
  }

  /** The client has left, and the response goes on for others. */
  detach(sink: ResponseSink): void {
    this.#sink = sink
    this.resume()
  }

  /** False while some is still to be compressed, which then finishes the exchange. */
  end(trailers: string[] | null): boolean {
    this.#sink.end(remainingFields(this.#x.responseChanges, trailers))
    return this.#compressed?.isFinishing !== true
  }

  clientDrained(): void {
    if (this.#compressed === null || this.#compressed.resume()) this.resume()
  }

  resume(): void {
    this.isClientBehind = false
    if (this.#lease.isHeld && !this.isHeldUp) this.#lease.resume()
  }

  /** Sends what the webhook has let pass. */
  release(bytes: Buffer): void {
    this.#x.tap?.noteRelayed(bytes)
    this.#write(bytes)
  }

  decided(): void {
    if (this.refusal === null) this.flush()
    this.#owner.decided()
  }

  crashed(bug: unknown): void {
    this.#owner.crashed(bug)
  }

  /** Sends what came before a fault, unless an error can still replace it. */
  breakOff(): void {
    if (this.#x.stage === 'begun') this.#sink.flush()
    this.close()
  }

  /** A compressed body must not look complete. */
  close(): void {
    this.#held?.close()
    if (this.#compressed === null) return
    this.#compressed.close()
    if (this.#x.stage === 'none') this.#x.compressed = null
  }

  #note(tap: Tap, bytes: Buffer): void {
    const noted = this.#frames === null ? bytes : this.#frames.push(bytes)
    if (noted !== null && noted !== false) tap.noteResponse(noted, this.#x.plane.clock)
  }

  #rewrite(bytes: Buffer | null | false): boolean {
    if (bytes === false) return false
    if (bytes === null) return true
    if (this.#guard !== null) return this.#guarded(this.#guard, this.#guard.push(bytes))
    return this.#passOn(bytes, true)
  }

  #guarded(guard: ResponseGuard, bytes: Buffer | null): boolean {
    if (bytes !== null) this.#passOn(bytes, true)
    return guard.refusal === null && this.refusal === null
  }

  /** False if the webhook stops the response. */
  #passOn(bytes: Buffer, isRewritten: boolean): boolean {
    const held = this.#held
    if (held === null) {
      if (isRewritten) this.#x.tap?.noteRelayed(bytes)
      this.#write(bytes)
      return true
    }
    held.push(bytes)
    return held.refusal === null
  }

  #write(bytes: Buffer): void {
    const x = this.#x
    if (this.#compressed === null) x.bytesOut += bytes.length
    if (x.eventStream !== null) x.eventStream.note(bytes)
    if (x.mcp !== null && x.mcp.response !== null) x.mcp.response.note(bytes)
    if (this.#flight !== null && !this.#flight.push(bytes) && this.#lease.isHeld) this.#lease.pause()
    this.#written(this.#sink.data(bytes))
  }

  #written(mayGoOn: boolean): void {
    if (this.#sink.hasBegun) this.#x.stage = 'begun'
    // Others need not wait for this client: what they get is kept anyway, up to the size of that.
    if (mayGoOn || (this.#flight?.isFollowed && this.#flight.isWhole)) return
    this.isClientBehind = true
    if (this.#lease.isHeld) this.#lease.pause()
  }
}
