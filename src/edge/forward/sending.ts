// A request on its way to an origin: at once where all of it is here, else as its body comes.

import type { Exchange } from '../exchange.ts'
import { holdsOurs, valueHoldsOurs } from '../../tokens/misplaced.ts'
import type { Lease } from '../origin/lease.ts'
import { keptTrailers } from '../rewrite/headers.ts'
import { BodyWriter } from './body-writer.ts'

/** Sends a request whose body is all there, null for none; false when the origin should be given time to read. */
export function sendWhole(x: Exchange, lease: Lease, head: string, body: Buffer | null): boolean {
  const isChunked = x.ai?.body == null && x.outgoing.chunked
  if (body === null && !isChunked) {
    lease.write(head)
    return true
  }
  const writer = new BodyWriter(lease, head, isChunked ? 'chunked' : 'length')
  const mayGoOn = body === null || writer.data(body)
  writer.end(trailersOf(x))
  return mayGoOn
}

/** Returns the trailers that go on: what ends at the gateway ends there behind the body too, and no provider asks for any. */
export function trailersOf(x: Exchange): string[] | null {
  const trailers = x.ai === null ? keptTrailers(x.requestChanges, x.requestBody.trailers) : null
  return trailers !== null && x.snapshot.ai?.hosts.has(x.host) ? withoutOurs(trailers) : trailers
}

/** Returns the trailers without credentials of this gateway: on a host that a zone shares with AI routes, its origin must not see any. */
function withoutOurs(trailers: readonly string[]): string[] {
  return trailers.filter((_, i) => {
    const at = i - (i % 2)
    return !holdsOurs(trailers[at]!) && !valueHoldsOurs(trailers[at + 1]!)
  })
}
