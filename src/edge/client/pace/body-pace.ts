// Whether a request body comes fast enough, in the time spent waiting for the client. Only sweeps check.

import type { Exchange } from '../../exchange/exchange.ts'
import { isGrpc } from '../../exchange/grpc.ts'

/** Ms of waiting before the rate is enforced. */
const grace = 10_000

/** Ms between two checks that count at most: more means that the process stalled. */
const maxElapsed = 1_000

/** The name of a metric, and in upper case after GH_ a cause in the access log. */
export type SlowBody = 'body_idle' | 'body_rate' | 'body_timeout'

export class BodyPace {
  readonly #x: Exchange
  /** Bytes a second, 0 for no minimum: a gRPC client sends when it has something to say. */
  readonly #rate: number
  #checkedAt: number
  #bytes = 0
  /** Ms in total, since the last byte, and those paid for by the bytes so far. */
  #waited = 0
  #silence = 0
  #credit = 0

  constructor(x: Exchange, now: number) {
    this.#x = x
    this.#rate = isGrpc(x.head) ? 0 : x.snapshot.client.bodyRate
    this.#checkedAt = now
  }

  /** Null if it is not too slow; `isAwaited` is false while reading is paused. */
  check(isAwaited: boolean, now: number): SlowBody | null {
    const { bytesIn } = this.#x
    const waited = isAwaited ? Math.min(now - this.#checkedAt, maxElapsed) : 0
    const bytes = bytesIn - this.#bytes
    this.#checkedAt = now
    this.#bytes = bytesIn
    this.#waited += waited
    this.#silence = bytes > 0 ? 0 : this.#silence + waited
    return this.#findFault(bytes)
  }

  #findFault(bytes: number): SlowBody | null {
    const { route, snapshot } = this.#x
    const idle = route?.config.timeouts.idle || Number.POSITIVE_INFINITY
    const { bodyTimeout } = snapshot.client
    if (this.#silence >= idle) return 'body_idle'
    if (bodyTimeout !== 0 && this.#waited >= bodyTimeout) return 'body_timeout'
    if (this.#rate === 0) return null
    // A fast start makes up for a pause as long as a client may be silent, not for hours.
    const maxCredit = this.#waited + Math.max(idle, grace)
    this.#credit = Math.min(this.#credit + (bytes * 1000) / this.#rate, maxCredit)
    return this.#waited >= Math.max(this.#credit, grace) ? 'body_rate' : null
  }
}
