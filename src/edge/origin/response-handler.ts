// What a connection to an origin reports, from the wait for it to its end.

import type { Phase } from '../../errors/catalogue/phase.ts'
import type { Failure } from '../../errors/catalogue/origin-failure.ts'
import type { Framing } from '../../http1/body/body.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'

/** What is known of a response's body before it comes. */
export interface ResponseBody {
  /** How its end is found; `chunked` where it ends of itself, `close` with its connection. */
  readonly framing: Framing
}

/** Handles the response to one request. */
export interface ResponseHandler {
  readonly method: string
  /** Whether the request asked for a WebSocket, so that a 101 may come. */
  readonly wantsUpgrade: boolean
  /** An interim response (1xx other than 101). */
  interim(head: ResponseHead): void
  head(head: ResponseHead, body: ResponseBody): void
  data(bytes: Buffer): void
  /** All that was read is delivered for now. */
  flushResponse(): void
  end(trailers: string[] | null): void
  /** Whether a 101 agrees to the WebSocket that was asked for. */
  completes(head: ResponseHead): boolean
  /** The response was 101; returns what takes the bytes of the other protocol. */
  switched(head: ResponseHead): TunnelHandler
  originDrained(): void
  failed(phase: Phase, failure: Failure): void
  /** A bug of ours was met while the response was read. */
  crashed(bug: unknown): void
}

/** Handles what comes after a switch of protocols. */
export interface TunnelHandler {
  tunnelData(bytes: Buffer): void
  tunnelEnd(): void
  originDrained(): void
  failed(phase: Phase, failure: Failure): void
  crashed(bug: unknown): void
}
