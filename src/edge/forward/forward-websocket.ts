// A WebSocket (RFC 6455), whose bytes pass untouched until a side ends or a shutdown closes both.

import { FrameBorders } from '../../http1/websocket/frame-borders.ts'
import { goingAway, maskedGoingAway } from '../../http1/websocket/going-away.ts'
import { modelInQuery } from '../ai-call/query-model.ts'
import { deliverBug } from '../exchange/deliver.ts'
import type { Exchange, RequestHandler } from '../exchange/exchange.ts'
import type { Lease } from '../origin/lease.ts'
import type { TunnelHandler } from '../origin/response-handler.ts'

export class Tunnel implements RequestHandler, TunnelHandler {
  readonly #x: Exchange
  readonly #lease: Lease
  readonly #idle: number
  readonly #fromOrigin = new FrameBorders('server')
  readonly #fromClient = new FrameBorders('client')
  #isGoingAway = false
  // Nothing may follow a Close frame.
  #isClientTold = false
  #isOriginTold = false
  #hasClientEnded = false
  deadline = Number.POSITIVE_INFINITY

  /** `idle` is in ms, 0 for no limit. */
  constructor(x: Exchange, lease: Lease, idle: number) {
    this.#x = x
    this.#lease = lease
    this.#idle = idle
    if (x.tap !== null) x.tap.noteSession(modelInQuery(x.ai!.path))
    this.#touch()
  }

  tunnelData(bytes: Buffer): void {
    this.#touch()
    const { tap, plane } = this.#x
    if (tap !== null) tap.noteFrames(bytes, plane.clock)
    if (this.#isGoingAway) return this.#passLastToClient(bytes)
    this.#fromOrigin.follow(bytes)
    this.#writeToClient(bytes)
  }

  tunnelEnd(): void {
    this.#x.handler = null
    this.#lease.destroy()
    this.#x.client.finish(this.#x)
  }

  originDrained(): void {
    this.#x.client.readBody()
  }

  failed(): void {
    this.#x.handler = null
    this.#lease.destroy()
    this.#x.client.cutOff(this.#x, true)
  }

  crashed(bug: unknown): void {
    deliverBug(this.#x, bug)
  }

  body(bytes: Buffer): void {
    this.#touch()
    if (this.#isGoingAway) return this.#passLastToOrigin(bytes)
    this.#fromClient.follow(bytes)
    this.#writeToOrigin(bytes)
  }

  flushBody(): void {}

  bodyEnd(): void {
    this.#hasClientEnded = true
    this.#lease.endSending()
    if (this.#isGoingAway) this.#endIfClosed()
  }

  clientDrained(): void {
    this.#lease.resume()
  }

  abort(): void {
    this.#lease.destroy()
  }

  expire(): void {
    this.tunnelEnd()
  }

  get isFullySent(): boolean {
    return this.#isClientTold
  }

  /**
   * Sends both sides a Close frame (1001) after the frame in progress, and drops what follows. Does nothing
   * if a side is closing already, or does not speak WebSocket.
   */
  goAway(): void {
    const [origin, client] = [this.#fromOrigin, this.#fromClient]
    if (this.#isGoingAway || origin.isLost || client.isLost || origin.isClosing || client.isClosing) return
    this.#isGoingAway = true
    if (origin.isAtBorder) this.#tellClient()
    if (client.isAtBorder) this.#tellOrigin()
  }

  #passLastToClient(bytes: Buffer): void {
    const borders = this.#fromOrigin
    if (this.#isClientTold) borders.follow(bytes)
    else {
      const end = borders.next(bytes, 0)
      this.#writeToClient(bytes.subarray(0, end))
      if (!borders.isAtBorder) return
      this.#tellClient()
      borders.follow(bytes.subarray(end))
    }
    this.#endIfClosed()
  }

  #passLastToOrigin(bytes: Buffer): void {
    const borders = this.#fromClient
    if (this.#isOriginTold) borders.follow(bytes)
    else {
      const end = borders.next(bytes, 0)
      this.#writeToOrigin(bytes.subarray(0, end))
      if (!borders.isAtBorder) return
      this.#tellOrigin()
      borders.follow(bytes.subarray(end))
    }
    this.#endIfClosed()
  }

  #tellClient(): void {
    this.#isClientTold = true
    if (!this.#fromOrigin.isClosing) this.#writeToClient(goingAway)
    // What the origin has yet to say is dropped, however slowly the client reads.
    this.#lease.resume()
  }

  #tellOrigin(): void {
    this.#isOriginTold = true
    if (this.#hasClientEnded) return
    if (!this.#fromClient.isClosing) this.#writeToOrigin(maskedGoingAway())
    this.#x.client.readBody()
  }

  /** The server closes the connection first (RFC 6455 section 7.1.1). */
  #endIfClosed(): void {
    const [origin, client] = [this.#fromOrigin, this.#fromClient]
    const isClientDone = this.#hasClientEnded || (client.isClosing && client.isAtBorder)
    if (isClientDone && origin.isClosing && origin.isAtBorder) this.tunnelEnd()
  }

  #writeToClient(bytes: Buffer): void {
    this.#x.bytesOut += bytes.length
    if (!this.#x.client.write(bytes)) this.#lease.pause()
  }

  #writeToOrigin(bytes: Buffer): void {
    if (!this.#lease.write(bytes)) this.#x.client.pauseBody()
  }

  #touch(): void {
    this.deadline = this.#idle === 0 ? Number.POSITIVE_INFINITY : this.#x.plane.coarseNow + this.#idle
  }
}
