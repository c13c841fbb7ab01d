// The events of a response from an origin.

import type { Phase } from '../../errors/catalogue/phase.ts'
import type { Failure } from '../../errors/catalogue/origin-failure.ts'
import type { Framing } from '../../http1/body/body.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'

export interface ResponseBody {
  /** `chunked` if the body marks its own end, `close` if the connection does. */
  readonly framing: Framing
}

export interface ResponseHandler {
  readonly method: string
  readonly wantsUpgrade: boolean
  /** Whether the bytes may be overwritten once `data` returns; others get bytes of their own. */
  readonly copiesData?: boolean
  /** For a 1xx other than 101. */
  interim(head: ResponseHead): void
  head(head: ResponseHead, body: ResponseBody): void
  data(bytes: Buffer): void
  flushResponse(): void
  end(trailers: string[] | null): void
  acceptsUpgrade(head: ResponseHead): boolean
  switchProtocols(head: ResponseHead): TunnelHandler
  originDrained(): void
  failed(phase: Phase, failure: Failure): void
  crashed(bug: unknown): void
}

export interface TunnelHandler {
  tunnelData(bytes: Buffer): void
  tunnelEnd(): void
  originDrained(): void
  failed(phase: Phase, failure: Failure): void
  crashed(bug: unknown): void
}
