// One request to an origin and its response: what waits for its reader, and the windows both ways.

import type { ResponseHead } from '../../http1/heads/response-head.ts'
import { firstWindow } from '../frames/peer-settings.ts'
import { SendingStream } from '../session/sending-stream.ts'

/**
 * Why a stream has failed. `refused`: the origin has certainly not processed the request (RFC 9113 section
 * 8.7); `http1_required`: likewise, but it accepts the request over HTTP/1.1 (section 7), as an origin that
 * authenticates connections must; `reset`: it has reset the stream.
 */
export type StreamFault =
  | 'refused'
  | 'http1_required'
  | 'reset'
  | 'bad_head'
  | 'head_too_large'
  | 'bad_framing'

/** Receives the response. */
export interface StreamUser {
  readonly method: string
  /** An interim response (1xx). */
  interim(head: ResponseHead): void
  /** `mayHaveBody` if a body may follow, even an empty one. */
  head(head: ResponseHead, mayHaveBody: boolean): void
  data(bytes: Buffer): void
  /** Everything that was read is delivered for now. */
  flush(): void
  /** The response is whole; the trailers are flat, null for none. */
  end(trailers: string[] | null): void
  /** More of the request may be sent after `send` returned false. */
  drained(): void
  /** The stream has failed. */
  failed(fault: StreamFault): void
}

/** Max buffers that are kept. */
const maxPieces = 64

export class ClientStream extends SendingStream {
  readonly user: StreamUser
  /** Bytes that the origin may still send; a full window of them may wait here for a paused reader. */
  receiveWindow = firstWindow
  /** Bytes of a full window, which doubles for a response whose reader keeps up. */
  fullWindow = firstWindow
  /** Bytes that were delivered but not given back yet. */
  consumed = 0
  hasHead = false
  /** Bytes that are still to come of a body of known length, or -1. */
  remaining = -1
  mayHaveBody = true
  /** Whether its reader is paused, and what arrived since. */
  isPaused = false
  held: Buffer[] = []
  /** The end of the response, if it waits for what is held to be read. */
  heldEnd: { readonly trailers: string[] | null } | null = null
  isOver = false
  /** Whether bytes were delivered since the last flush. */
  isTouched = false

  constructor(id: number, user: StreamUser, sendWindow: number) {
    super(id, sendWindow)
    this.user = user
  }

  /** Keeps bytes for a paused reader. */
  hold(bytes: Buffer): void {
    // A byte in a frame of its own costs far more than a byte.
    if (this.held.push(bytes) > maxPieces) this.held = [Buffer.concat(this.held)]
  }
}
