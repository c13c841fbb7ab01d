// Creates the exchanges of a connection, and caches what its requests have in common.

import { ownText } from '../../base/text/own-text.ts'
import { nextRay } from '../../base/ids/ray.ts'
import { noBody } from '../../http1/body/body.ts'
import { hostName } from '../../http1/fields/host.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import { type Client, Exchange, type RequestBody } from '../exchange/exchange.ts'
import type { Plane } from '../snapshot/plane.ts'
import { salvage } from './salvaged-head.ts'

interface TrustableClient extends Client {
  isTrusted: boolean
}

interface Peer {
  readonly peer: string
  /** Whether the peer speaks for a client of unknown address, whose claims must not be trusted. */
  readonly isAnonymous: boolean
}

export class Exchanges {
  count = 0
  readonly #peer: Peer
  readonly #plane: Plane
  #trustedBy: Plane['snapshot'] | null = null
  #isTrusted = false
  #host: string | null = null
  #hostName = ''

  constructor(peer: Peer, plane: Plane) {
    this.#peer = peer
    this.#plane = plane
    this.#updateTrust()
  }

  of(head: RequestHead, body: RequestBody, client: TrustableClient): Exchange | null {
    if (head.host !== null && head.host !== this.#host && !this.#setHost(head.host)) return null
    this.#trust(client)
    const x = new Exchange(this.#plane, client, head, body, nextRay())
    x.host = head.host === null ? '' : this.#hostName
    if (++this.count >= x.snapshot.limits.requestsPerConnection || this.#plane.isDraining) x.keepAlive = false
    return x
  }

  ofRefused(head: RequestHead, body: RequestBody, client: TrustableClient): Exchange {
    this.#trust(client)
    const x = new Exchange(this.#plane, client, head, body, nextRay())
    x.host = hostName(x.head.host ?? '') ?? ''
    return x
  }

  /** Creates the exchange of bytes that are not a request, to be refused. */
  ofBytes(bytes: Buffer, client: TrustableClient): Exchange {
    return this.ofRefused(salvage(bytes), noBody, client)
  }

  #setHost(host: string): boolean {
    const name = hostName(host)
    if (name === null) return false
    this.#host = ownText(host)
    this.#hostName = ownText(name)
    return true
  }

  #trust(client: TrustableClient): void {
    if (this.#plane.snapshot !== this.#trustedBy) this.#updateTrust()
    client.isTrusted = this.#isTrusted
  }

  #updateTrust(): void {
    this.#trustedBy = this.#plane.snapshot
    this.#isTrusted = !this.#peer.isAnonymous && this.#trustedBy.trusted.has(this.#peer.peer)
  }
}
