// Makes an exchange of each request of a connection, with what is known of client and host from the requests before.

import { ownText } from '../../base/text/own-text.ts'
import { nextRay } from '../../base/ids/ray.ts'
import { BodyReader } from '../../http1/body/body.ts'
import { hostName } from '../../http1/fields/host.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import { type Client, Exchange, type RequestBody } from '../exchange/exchange.ts'
import type { Plane } from '../snapshot/plane.ts'
import { salvage } from './salvaged-head.ts'

interface TrustableClient extends Client {
  isTrusted: boolean
}

/** Who has connected. */
interface Peer {
  readonly peer: string
  /** Whether the peer only speaks for a client whose address it does not know: what that one says of itself is not the word of a trusted hop. */
  readonly isAnonymous: boolean
}

export class Exchanges {
  /** Counts the requests so far. */
  count = 0
  readonly #peer: Peer
  readonly #plane: Plane
  /** The snapshot by which the peer is trusted, or not. */
  #trustedBy: Plane['snapshot'] | null = null
  #isTrusted = false
  /** The Host of the last request, which mostly is that of the next one. */
  #host: string | null = null
  #hostName = ''

  constructor(peer: Peer, plane: Plane) {
    this.#peer = peer
    this.#plane = plane
    this.#takeTrust()
  }

  /** Makes the exchange of a request; null where its Host is none. */
  of(head: RequestHead, body: RequestBody, client: TrustableClient): Exchange | null {
    if (head.host !== null && head.host !== this.#host && !this.#takeHost(head.host)) return null
    this.#trust(client)
    const x = new Exchange(this.#plane, client, head, body, nextRay())
    x.host = head.host === null ? '' : this.#hostName
    if (++this.count >= x.snapshot.limits.requestsPerConnection || this.#plane.isDraining) x.keepAlive = false
    return x
  }

  /** Makes an exchange of a request that is to be refused. */
  ofRefused(head: RequestHead, body: RequestBody, client: TrustableClient): Exchange {
    this.#trust(client)
    const x = new Exchange(this.#plane, client, head, body, nextRay())
    x.host = hostName(x.head.host ?? '') ?? ''
    return x
  }

  /** Makes an exchange of bytes that never became a request, to be refused. */
  ofBytes(bytes: Buffer, client: TrustableClient): Exchange {
    return this.ofRefused(salvage(bytes), new BodyReader('none', 0), client)
  }

  #takeHost(host: string): boolean {
    const name = hostName(host)
    if (name === null) return false
    this.#host = ownText(host)
    this.#hostName = ownText(name)
    return true
  }

  #trust(client: TrustableClient): void {
    if (this.#plane.snapshot !== this.#trustedBy) this.#takeTrust()
    client.isTrusted = this.#isTrusted
  }

  #takeTrust(): void {
    this.#trustedBy = this.#plane.snapshot
    this.#isTrusted = !this.#peer.isAnonymous && this.#trustedBy.trusted.has(this.#peer.peer)
  }
}
