// The interface between a session and the code that serves its requests.

import type { HeadLimits, RequestHead } from '../../http1/heads/request-head.ts'
import type { HeadFault } from '../../http1/heads/request-line.ts'
import type { Stream } from './stream.ts'

/** Each is the label of a metric. */
export type SessionFault =
  /** RFC 9113 or RFC 7541 was broken. */
  | 'protocol'
  | 'settings_timeout'
  /** CVE-2023-44487, CVE-2025-8671. */
  | 'resets'
  /** PING, SETTINGS, PRIORITY, tiny window updates, empty DATA. */
  | 'control_frames'
  /** Too many bytes or frames, which cannot be skipped since they change the compression state. */
  | 'header_block'
  | 'slow_head'

/** Each is the label of a metric. */
export type StreamFault =
  | 'client_reset'
  /** The client gets the error code. */
  | 'malformed'
  | 'slow_reader'
  | 'session'

/** `more`: the rest must wait for the next turn; `full`: until the output that was taken is written. */
export type ReadState = 'done' | 'more' | 'full'

/** Serves the requests of a session. It may call the session from within each method. */
export interface SessionUser<Owner> {
  readonly limits: HeadLimits
  /** Ms from the first frame of a header block to its last. */
  readonly headTimeout: number
  /**
   * With a fault, the head is as far as it was read, and the request is to be refused.
   * `stream.isRequestWhole` means no body; bodies wait for `readBody`.
   */
  begin(stream: Stream<Owner>, head: RequestHead, fault: HeadFault | null): void
  /** At least one byte; a view into what was read. */
  body(stream: Stream<Owner>, bytes: Buffer): void
  /** `trailers` are flat, null for none. Not called for requests without a body, but always for tunnels. */
  bodyEnd(stream: Stream<Owner>, trailers: readonly string[] | null): void
  /** Not called after `reset`, nor after a whole response. */
  aborted(stream: Stream<Owner>, fault: StreamFault): void
  drained(stream: Stream<Owner>): void
  /** Called once, until `takeOutput` has returned null. */
  outputReady(): void
  /** Called after `aborted` of all streams; the last output tells the client why. */
  failed(fault: SessionFault, detail: string): void
}
