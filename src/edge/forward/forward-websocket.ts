// A WebSocket (RFC 6455), whose bytes pass untouched until a side ends or a shutdown closes both.

import { FrameBorders } from '../../http1/websocket/frame-borders.ts'
import { goingAway, maskedGoingAway } from '../../http1/websocket/going-away.ts'
import { closeFrame, textFrame } from '../../http1/websocket/own-frames.ts'
import { modelInQuery } from '../ai-call/query-model.ts'
import { deliverBug } from '../exchange/deliver.ts'
import type { Exchange, RequestHandler } from '../exchange/exchange.ts'
import { sessionModel } from '../meter/reserve.ts'
import type { Lease } from '../origin/lease.ts'
import type { TunnelHandler } from '../origin/response-handler.ts'
import { SessionBudget } from './session-budget.ts'

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
  /** Null unless spend limits count what the session uses. */
  readonly #session: SessionBudget | null
  /** The last frames for the client: an error, if there is one, and a Close. */
  #farewell: Buffer = goingAway
  deadline = Number.POSITIVE_INFINITY

  /** `idle` is in ms, 0 for no limit. */
  constructor(x: Exchange, lease: Lease, idle: number) {
    this.#x = x
    this.#lease = lease
    this.#idle = idle
    if (x.tap !== null) x.tap.noteSession(modelInQuery(x.ai!.path))
    this.#session = this.#budgeted()
    this.#touch()
  }

  tunnelData(bytes: Buffer): void {
    this.#touch()
    if (this.#isGoingAway) {
      this.#note(bytes)
      return this.#passLastToClient(bytes)
    }
    this.#fromOrigin.follow(bytes)
    this.#writeToClient(bytes)
    // It may end the session, behind what came.
    this.#note(bytes)
  }

  tunnelEnd(): void {
    this.#session?.end()
    this.#x.handler = null
    this.#lease.destroy()
    this.#x.client.finish(this.#x)
  }

  originDrained(): void {
    this.#x.client.readBody()
  }

  failed(): void {
    this.#session?.end()
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
    if (this.#session === null) this.pass(bytes)
    else this.#session.body(bytes)
  }

  pass(bytes: Buffer): void {
    this.#fromClient.follow(bytes)
    this.#writeToOrigin(bytes)
  }

  endSession(code: number, reason: string): void {
    const error = { type: 'invalid_request_error', code: 'spend_limit', message: reason, param: null }
    const event = textFrame(JSON.stringify({ type: 'error', error: { ...error, event_id: null } }))
    this.#farewell = Buffer.concat([event, closeFrame(code, reason)])
    this.goAway()
    if (!this.#isGoingAway) this.failed()
  }

  flushBody(): void {}

  bodyEnd(): void {
    this.#hasClientEnded = true
    if (!this.#isGoingAway) this.#session?.end()
    this.#lease.endSending()
    if (this.#isGoingAway) this.#endIfClosed()
  }

  clientDrained(): void {
    this.#lease.resume()
  }

  abort(): void {
    this.#session?.end()
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
    const rest = this.#session?.end()
    if (origin.isAtBorder) this.#tellClient()
    if (client.isAtBorder) this.#tellOrigin()
    if (rest !== undefined) client.follow(rest)
  }

  /** Sends a Close frame to each side that is between two frames, and does not wait for replies. */
  closeNow(code: number, reason: string): void {
    const [origin, client] = [this.#fromOrigin, this.#fromClient]
    if (origin.isAtBorder && !origin.isClosing && !this.#isClientTold) {
      this.#isClientTold = true
      this.#writeToClient(closeFrame(code, reason))
    }
    if (client.isAtBorder && !client.isClosing && !this.#isOriginTold && !this.#hasClientEnded) {
      this.#isOriginTold = true
      this.#writeToOrigin(maskedGoingAway())
    }
  }

  #budgeted(): SessionBudget | null {
    const { ai, tap } = this.#x
    if (ai === null || ai.budget === null || !ai.budget.isCounted) return null
    const session = new SessionBudget(this.#x, ai.budget, sessionModel(ai)!, this)
    tap!.session!.follower = session
    return session
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
    if (!this.#fromOrigin.isClosing) this.#writeToClient(this.#farewell)
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

  #note(bytes: Buffer): void {
    const { tap, plane } = this.#x
    if (tap !== null) tap.noteFrames(bytes, plane.clock)
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
