// The requests of one HTTP/2 connection: one exchange each, which gets the events of its stream.

import { type Refusal, refuse } from '../../../errors/catalogue/refusal.ts'
import type { RequestHead } from '../../../http1/heads/request-head.ts'
import type { HeadFault } from '../../../http1/heads/request-line.ts'
import { errorCode } from '../../../http2/frames/frames.ts'
import type { StreamFault } from '../../../http2/server/session-user.ts'
import { deliver, deliverBug } from '../../exchange/deliver.ts'
import { review } from '../../protect/review.ts'
import { tooLarge } from '../../steps/bound.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { Plane } from '../../snapshot/plane.ts'
import { serve } from '../../serve/serve.ts'
import { Exchanges } from '../exchanges.ts'
import { type ClientStream, StreamBody, StreamClient, type StreamConnection } from './http2-stream.ts'

interface RequestConnection extends StreamConnection {
  readonly isAnonymous: boolean
  requestBegun(maxRequests: number): void
}

export class Http2Requests {
  readonly #connection: RequestConnection
  readonly #plane: Plane
  readonly #exchanges: Exchanges
  readonly #clients = new Set<StreamClient>()
  #unflushed: StreamClient[] = []

  constructor(connection: RequestConnection, plane: Plane) {
    this.#connection = connection
    this.#plane = plane
    this.#exchanges = new Exchanges(connection, plane)
  }

  get count(): number {
    return this.#clients.size
  }

  begin(stream: ClientStream, head: RequestHead, fault: HeadFault | null): void {
    try {
      this.#begin(stream, head, fault)
    } catch (bug) {
      this.#plane.log.error({ err: bug }, 'request failed: internal error')
      this.#connection.session.reset(stream, errorCode.internal)
    }
  }

  #begin(stream: ClientStream, head: RequestHead, fault: HeadFault | null): void {
    const body = new StreamBody(head.contentLength, stream.isRequestWhole || stream.isTunnel)
    head.version = '2'
    head.chunked = body.framing === 'chunked'
    const client = new StreamClient(this.#connection, stream, body)
    const x = fault === null ? this.#exchanges.of(head, body, client) : null
    const exchange = x ?? this.#exchanges.ofRefused(head, body, client)
    client.exchange = exchange
    stream.owner = client
    this.#clients.add(client)
    this.#connection.requestBegun(exchange.snapshot.limits.requestsPerConnection)
    if (x === null) deliver(exchange, refuse(fault ?? 'host_invalid'))
    else this.#serve(x)
  }

  #serve(x: Exchange): void {
    x.holdLongWork()
    serve(x)
  }

  body({ owner: client, isRequestWhole }: ClientStream, bytes: Buffer): void {
    const x = client?.exchange
    if (!client || !x) return
    try {
      x.bytesIn += bytes.length
      if (x.upgrade !== 'done') {
        if (x.bytesIn > x.bodyLimit) return refuseBody(x, tooLarge(x))
        if (isRequestWhole && x.bytesIn === x.head.contentLength) client.body.done = true
      }
      x.handler?.body(bytes)
      this.#unflushed.push(client)
    } catch (bug) {
      deliverBug(x, bug)
    }
  }

  bodyEnd({ owner: client }: ClientStream, trailers: readonly string[] | null): void {
    const x = client?.exchange
    if (!client || !x) return
    try {
      client.body.done = true
      client.body.trailers = trailers === null ? null : [...trailers]
      x.handler?.bodyEnd()
    } catch (bug) {
      deliverBug(x, bug)
    }
  }

  aborted({ owner: client }: ClientStream, fault: StreamFault): void {
    const x = client?.exchange
    if (!client || !x) return
    if (fault === 'slow_reader') this.#plane.metrics.slowClients.response.inc()
    abandon(client, x)
  }

  drained({ owner: client }: ClientStream): void {
    const x = client?.exchange
    if (!x) return
    try {
      x.handler?.clientDrained()
    } catch (bug) {
      deliverBug(x, bug)
    }
  }

  flush(): void {
    const unflushed = this.#unflushed
    if (unflushed.length === 0) return
    this.#unflushed = []
    for (const { exchange } of unflushed) if (exchange !== null) flushBody(exchange)
  }

  concluded(client: StreamClient): void {
    this.#clients.delete(client)
  }

  sweep(now: number): void {
    for (const client of this.#clients)
      if (client.exchange !== null) this.#sweep(client, client.exchange, now)
  }

  goAway(): void {
    for (const { exchange } of this.#clients)
      try {
        exchange?.handler?.goAway?.()
      } catch (bug) {
        deliverBug(exchange!, bug)
      }
  }

  /** Returns whether all were WebSockets that had sent their close frames. */
  cut(): boolean {
    let isWhole = true
    for (const client of this.#clients) {
      const x = client.exchange
      isWhole &&= x?.handler?.isFullySent === true
      if (x !== null) client.cut(x)
    }
    return isWhole
  }

  /** Ends up to `max` requests of a departed client; returns how many are left of that number. */
  abandon(max: number): number {
    let left = max
    for (const client of this.#clients) {
      if (left === 0) return 0
      left--
      if (client.exchange === null) this.#clients.delete(client)
      else abandon(client, client.exchange)
    }
    return left
  }

  #sweep(client: StreamClient, x: Exchange, now: number): void {
    try {
      const { handler } = x
      if (handler !== null && now >= handler.deadline) handler.expire()
      if (this.#plane.isReviewing && client.exchange !== null) review(client.exchange)
      const fault = client.exchange === null ? null : client.bodyFault(x, now)
      if (fault === null) return
      this.#plane.metrics.slowClients[fault].inc()
      refuseBody(x, refuse('request_timeout', {}, { code: `GH_${fault.toUpperCase()}` }))
    } catch (bug) {
      deliverBug(x, bug)
    }
  }
}

function abandon(client: StreamClient, x: Exchange): void {
  try {
    client.clientLeft(x)
  } catch (bug) {
    deliverBug(x, bug)
  }
}

function flushBody(x: Exchange): void {
  try {
    x.handler?.flushBody()
  } catch (bug) {
    deliverBug(x, bug)
  }
}

function refuseBody(x: Exchange, refusal: Refusal): void {
  x.handler?.abort()
  deliver(x, refusal)
}
