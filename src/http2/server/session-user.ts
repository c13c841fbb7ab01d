// The interface between a session and the code that serves its requests, and why a session or a stream may
// end.

import type { HeadLimits, RequestHead } from '../../http1/heads/request-head.ts'
import type { HeadFault } from '../../http1/heads/request-line.ts'
import type { Stream } from './stream.ts'

/** Why a session has failed; each is the label of a metric. */
export type SessionFault =
  /** It broke RFC 9113 or RFC 7541. */
  | 'protocol'
  /** It never acknowledged our settings. */
  | 'settings_timeout'
  /** It reset too many requests, or made us reset or refuse them (CVE-2023-44487, CVE-2025-8671). */
  | 'resets'
  /**
   * It sent too many frames that carry nothing: PING, SETTINGS, PRIORITY, tiny window updates, empty DATA.
   */
  | 'control_frames'
  /**
   * A header block of too many bytes or frames, which cannot be skipped since it changes the compression
   * state, or one that unpacks to far too much.
   */
  | 'header_block'
  /** A header block, or the start of the connection, was not complete in time. */
  | 'slow_head'

/** Why a stream has ended early; each is the label of a metric. */
export type StreamFault =
  /** The client has reset it. */
  | 'client_reset'
  /** It broke RFC 9113; the client gets the error code. */
  | 'malformed'
  /** The client was too slow to open the window of the response. */
  | 'slow_reader'
  /** The connection is over. */
  | 'session'

/**
 * How reading ended: everything was read, or the rest must wait for the next turn, or until the output that
 * was taken is written.
 */
export type ReadState = 'done' | 'more' | 'full'

/** Serves the requests of a session. It may call the session from within each method. */
export interface SessionUser<Owner> {
  /** The current limits of request heads. */
  readonly limits: HeadLimits
  /** Ms for a header block from its first frame to its last. */
  readonly headTimeout: number
  /**
   * A request has begun. With a fault, the head is as far as it was read, and the request is to be refused.
   * `stream.isRequestWhole` means that it has no body; bodies wait for `readBody`.
   */
  begin(stream: Stream<Owner>, head: RequestHead, fault: HeadFault | null): void
  /** Bytes of a request body, at least one; a view into what was read. */
  body(stream: Stream<Owner>, bytes: Buffer): void
  /**
   * The last bytes of a body have arrived; `trailers` are flat, null for none. Not called for requests
   * without a body, but always for tunnels.
   */
  bodyEnd(stream: Stream<Owner>, trailers: readonly string[] | null): void
  /** A stream has ended early. Not called after `reset`, nor after a whole response. */
  aborted(stream: Stream<Owner>, fault: StreamFault): void
  /** A response that had to wait can go on. */
  drained(stream: Stream<Owner>): void
  /** There is output to take. Called once, until `takeOutput` has returned null. */
  outputReady(): void
  /**
   * The session is over: its last output, which tells the client why, must be written, and the connection
   * closed. Called after `aborted` of all streams.
   */
  failed(fault: SessionFault, detail: string): void
}
