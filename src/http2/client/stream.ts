// One request to an origin and its response.

import type { ResponseHead } from '../../http1/heads/response-head.ts'
import { firstWindow } from '../frames/peer-settings.ts'
import { SendingStream } from '../session/sending-stream.ts'

/**
 * `refused`: the origin has certainly not processed the request (RFC 9113 section 8.7); `http1_required`:
 * likewise, but it accepts the request over HTTP/1.1, as an origin that authenticates connections must;
 * `reset`: the origin has reset the stream.
 */
export type StreamFault =
  | 'refused'
  | 'http1_required'
  | 'reset'
  | 'bad_head'
  | 'head_too_large'
  | 'bad_framing'

export interface StreamUser {
  readonly method: string
  interim(head: ResponseHead): void
  /** `mayHaveBody` if a body may follow, even an empty one. */
  head(head: ResponseHead, mayHaveBody: boolean): void
  data(bytes: Buffer): void
  flush(): void
  end(trailers: string[] | null): void
  /** More of the request may be sent after `send` returned false. */
  drained(): void
  failed(fault: StreamFault): void
}

const maxPieces = 64

export class ClientStream extends SendingStream {
  readonly user: StreamUser
  /** Bytes; a full window may wait here for a paused reader. */
  receiveWindow = firstWindow
  fullWindow = firstWindow
  consumed = 0
  hasHead = false
  /** Bytes of a body of known length, or -1. */
  remaining = -1
  mayHaveBody = true
  isPaused = false
  held: Buffer[] = []
  heldEnd: { readonly trailers: string[] | null } | null = null
  isOver = false
  isTouched = false

  constructor(id: number, user: StreamUser, sendWindow: number) {
    super(id, sendWindow)
    this.user = user
  }

  hold(bytes: Buffer): void {
    // A byte in a frame of its own costs far more than a byte.
    if (this.held.push(bytes) > maxPieces) this.held = [Buffer.concat(this.held)]
  }
}
