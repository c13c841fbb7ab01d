// What a session of HTTP/2 tells whoever serves its requests, and why it or a stream may end.

import type { HeadLimits, RequestHead } from '../../http1/heads/request-head.ts'
import type { HeadFault } from '../../http1/heads/request-line.ts'
import type { Stream } from './stream.ts'

/** Why a session has failed; each is the name of a tally. */
export type SessionFault =
  /** It broke RFC 9113 or RFC 7541. */
  | 'protocol'
  /** It never acknowledged our settings. */
  | 'settings_timeout'
  /** It reset too many requests, or made us reset or refuse them (CVE-2023-44487, CVE-2025-8671). */
  | 'resets'
  /** It sent too many frames that carry nothing: PING, SETTINGS, PRIORITY, tiny updates of windows, empty DATA. */
  | 'control_frames'
  /** A header block of too many bytes or frames, which cannot be skipped since it belongs to the compression, or one that unpacks to far too much. */
  | 'header_block'
  /** A header block, or the very beginning, that did not come to its end in time. */
  | 'slow_head'

/** Why a stream has ended before its time: each is the name of a tally. */
export type StreamFault =
  /** The client has reset it. */
  | 'client_reset'
  /** It broke RFC 9113, and the client is told so. */
  | 'malformed'
  /** The client was too slow to allow more of the response. */
  | 'slow_reader'
  /** The connection is over. */
  | 'session'

/** How reading ended: all was read, or the rest has to wait for the next turn, or until the output that was taken is written. */
export type ReadState = 'done' | 'more' | 'full'

/** Whoever serves the requests of a session. It may call the session from within each of these. */
export interface SessionUser<Owner> {
  /** Of the heads of requests, as they are at present. */
  readonly limits: HeadLimits
  /** Ms for a header block from its first frame to its last. */
  readonly headTimeout: number
  /**
   * A request has begun. With a fault, the head stands as far as it was read, and the request is to be refused. `stream.isRequestWhole` says that it
   * has no body; bodies wait for `readBody`.
   */
  begin(stream: Stream<Owner>, head: RequestHead, fault: HeadFault | null): void
  /** Bytes of a request body, at least one; they are a view into what was read. */
  body(stream: Stream<Owner>, bytes: Buffer): void
  /** The last bytes of a body have come; `trailers` are flat, null for none. Not for requests without a body, but for tunnels always. */
  bodyEnd(stream: Stream<Owner>, trailers: readonly string[] | null): void
  /** A stream has ended before its time. Not after `reset`, nor behind a whole response. */
  aborted(stream: Stream<Owner>, fault: StreamFault): void
  /** A response that was told to wait can go on. */
  drained(stream: Stream<Owner>): void
  /** There is output to take. Comes once, until `takeOutput` returned null. */
  outputReady(): void
  /** The session is over: its last output, which says why, is to be written, and the connection to be closed. Behind `aborted` of all streams. */
  failed(fault: SessionFault, detail: string): void
}
