// Whether the body of a request comes fast enough. Only the time counts in which the client is the one that is waited for; the client connection asks at each
// of its sweeps, so that reading a body costs nothing more.

import type { Exchange } from '../../exchange/exchange.ts'
import { isGrpc } from '../../exchange/grpc.ts'

/** Ms of waiting after which the rate counts. */
const grace = 10_000

/** Most ms of waiting between two looks: what is more was a stall of our own, while which bytes may have come. */
const longestLook = 1_000

/** Why a body is too slow: the name of a tally, and in upper case behind GH_ that of a cause in the access log. */
export type SlowBody = 'body_idle' | 'body_rate' | 'body_timeout'

export class BodyPace {
  readonly #x: Exchange
  /** Bytes a second that it must come to, 0 for any: whoever makes a gRPC call sends when there is something to say. */
  readonly #rate: number
  #lookedAt: number
  /** Bytes that had come by then: those that came before it was asked count too. */
  #bytes = 0
  /** Ms of waiting in all, since the last byte, and those that the bytes so far are good for. */
  #waited = 0
  #silent = 0
  #earned = 0

  constructor(x: Exchange, now: number) {
    this.#x = x
    this.#rate = isGrpc(x.head) ? 0 : x.snapshot.client.bodyRate
    this.#lookedAt = now
  }

  /** Finds why the body is too slow by monotonic ms `now`, null while it is not; `isAwaited` is false while it is we who keep the client from sending. */
  look(isAwaited: boolean, now: number): SlowBody | null {
    const { bytesIn } = this.#x
    const waited = isAwaited ? Math.min(now - this.#lookedAt, longestLook) : 0
    const bytes = bytesIn - this.#bytes
    this.#lookedAt = now
    this.#bytes = bytesIn
    this.#waited += waited
    this.#silent = bytes > 0 ? 0 : this.#silent + waited
    return this.#judge(bytes)
  }

  #judge(bytes: number): SlowBody | null {
    const { route, snapshot } = this.#x
    const idle = route?.config.timeouts.idle || Number.POSITIVE_INFINITY
    const { bodyTimeout } = snapshot.client
    if (this.#silent >= idle) return 'body_idle'
    if (bodyTimeout !== 0 && this.#waited >= bodyTimeout) return 'body_timeout'
    if (this.#rate === 0) return null
    // What came fast makes up for a pause as long as a client may be silent, and not for a trickle over hours.
    const most = this.#waited + Math.max(idle, grace)
    this.#earned = Math.min(this.#earned + (bytes * 1000) / this.#rate, most)
    return this.#waited >= Math.max(this.#earned, grace) ? 'body_rate' : null
  }
}
