// The events of a response from an origin.

import type { Phase } from '../../errors/catalogue/phase.ts'
import type { Failure } from '../../errors/catalogue/origin-failure.ts'
import type { Framing } from '../../http1/body/body.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'

/** What the head tells about the body. */
export interface ResponseBody {
  /** How its end is found: `chunked` if it marks its own end, `close` if the connection does. */
  readonly framing: Framing
}

/** Handles the response to one request. */
export interface ResponseHandler {
  readonly method: string
  /** Whether the request asks for a WebSocket, so that a 101 is allowed. */
  readonly wantsUpgrade: boolean
  /** An interim response (1xx other than 101). */
  interim(head: ResponseHead): void
  head(head: ResponseHead, body: ResponseBody): void
  data(bytes: Buffer): void
  /** Everything read so far has been delivered. */
  flushResponse(): void
  end(trailers: string[] | null): void
  /** Whether a 101 accepts the requested WebSocket. */
  acceptsUpgrade(head: ResponseHead): boolean
  /** The response is a 101; returns the handler for the bytes that follow. */
  switchProtocols(head: ResponseHead): TunnelHandler
  originDrained(): void
  failed(phase: Phase, failure: Failure): void
  /** Called for an internal error while the response was read. */
  crashed(bug: unknown): void
}

/** Handles the bytes after a switch of protocols. */
export interface TunnelHandler {
  tunnelData(bytes: Buffer): void
  tunnelEnd(): void
  originDrained(): void
  failed(phase: Phase, failure: Failure): void
  crashed(bug: unknown): void
}
