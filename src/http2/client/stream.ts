// One request on a connection of HTTP/2 and its response, as the session keeps them.

import type { ResponseHead } from '../../http1/heads/response-head.ts'
import { firstWindow } from '../frames/peer-settings.ts'
import { SendingStream } from '../session/sending-stream.ts'

/**
 * What became of one stream. `refused`: the origin has surely done nothing with the request (RFC 9113 section 8.7); `http1_required`: nor then, but it takes it by HTTP/1.1
 * (section 7), as it must where it authenticates connections; `reset`: it gave the response up.
 */
export type StreamFault =
  | 'refused'
  | 'http1_required'
  | 'reset'
  | 'bad_head'
  | 'head_too_large'
  | 'bad_framing'

/** Who gets the response. */
export interface StreamUser {
  readonly method: string
  /** An interim response (1xx). */
  interim(head: ResponseHead): void
  /** `mayHaveBody` where one may follow, be it empty. */
  head(head: ResponseHead, mayHaveBody: boolean): void
  data(bytes: Buffer): void
  /** All that was read is delivered for now. */
  flush(): void
  /** The response is whole; the trailers are flat, null for none. */
  end(trailers: string[] | null): void
  /** More of the request may be sent after `send` returned false. */
  drained(): void
  /** The stream is over. */
  failed(fault: StreamFault): void
}

/** Pieces in which bytes are kept. */
const mostPieces = 64

export class ClientStream extends SendingStream {
  readonly user: StreamUser
  /** Bytes that the origin may still send; a full window of them waits here for a client that does not read. */
  receiveWindow = firstWindow
  /** Bytes of a full window; doubled for a response that its reader keeps up with. */
  fullWindow = firstWindow
  /** Bytes that were delivered and not yet given back. */
  consumed = 0
  hasHead = false
  /** Bytes that are still to come of a body of known length, -1 where it is not. */
  remaining = -1
  mayHaveBody = true
  /** Whether its user does not read now, and what came meanwhile. */
  isPaused = false
  held: Buffer[] = []
  /** The end of the response, which waits behind what is held. */
  heldEnd: { readonly trailers: string[] | null } | null = null
  isOver = false
  /** Whether bytes were delivered since the last flush. */
  isTouched = false

  constructor(id: number, user: StreamUser, sendWindow: number) {
    super(id, sendWindow)
    this.user = user
  }

  /** Keeps bytes for a user that does not read now. */
  hold(bytes: Buffer): void {
    // A byte in a frame of its own costs far more than a byte.
    if (this.held.push(bytes) > mostPieces) this.held = [Buffer.concat(this.held)]
  }
}
