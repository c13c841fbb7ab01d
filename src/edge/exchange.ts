// One request and everything that becomes known of it. Steps write what they learn here, the record reads it all; every field is set at birth so that
// all exchanges have one shape.

import type { Facts } from '../expression/expression.ts'
import { pathReadings } from '../base/path/path-readings.ts'
import { Work } from '../expression/work-budget.ts'
import type { AiCaller } from '../errors/compose-ai.ts'
import type { Refusal } from '../errors/refusal.ts'
import type { BodyReader, Framing } from '../http1/body.ts'
import type { RequestHead } from '../http1/request-head.ts'
import type { Shown } from '../tokens/verify.ts'
import type { AiExchange } from './ai/ai-exchange.ts'
import type { Tap } from './ai/tap.ts'
import type { EdgeRoute, EdgeZone } from './snapshot.ts'
import type { ByteSink } from './forward/body-writer.ts'
import type { Dial } from './origin/dial.ts'
import type { EventStream } from './forward/event-stream.ts'
import type { Origin } from './origin/origin.ts'
import type { Plane } from './plane.ts'
import type { EdgeMember } from './origin/pools.ts'
import type { HeaderChanges } from './rewrite/headers.ts'
import { type Way, wayOf } from './client/way.ts'

/** The client's side of an exchange, as the steps need it. */
export interface Client extends ByteSink {
  /** The address of the socket's other end. */
  readonly peer: string
  /** The peer as a node of Forwarded (RFC 7239 section 6). */
  readonly node: string
  /** The token that it showed last. */
  readonly shown: Shown
  /** Whether the peer is a trusted hop, whose forwarding fields are believed. */
  readonly isTrusted: boolean
  /** Asks for the rest of the request body, which then reaches `Upstream.body`. */
  readBody(): void
  /** Stops the request body until `readBody`. */
  pauseBody(): void
  /** Ends the exchange: the response is written as a whole. */
  finish(exchange: Exchange): void
  /** Ends the exchange and the connection so that the client sees the truncation; what is written already goes out first when `gently`. */
  cutOff(exchange: Exchange, gently: boolean): void
  /** Ends the exchange and the connection of a client that has left, or no longer reads. */
  abandon(exchange: Exchange): void
}

/** What carries a request to its origin, as the client's side sees it. */
export interface Upstream {
  /** Monotonic ms at which `expire` is to be called. */
  readonly deadline: number
  expire(): void
  /** Takes decoded body bytes. */
  body(bytes: Buffer): void
  /** All body bytes that were received are delivered for now. */
  flushBody(): void
  bodyEnd(): void
  /** The client reads again after `write` gave false. */
  clientDrained(): void
  /** The client is gone; nothing may be written any more. */
  abort(): void
  /** A shutdown ends before long: both sides are told where their protocol has words for that. */
  goAway?(): void
  /** Whether the client has been told all that it will be, so that the end of its connection cuts nothing off. */
  readonly isFarewellSaid?: boolean
}

/** What a step says: null to pass, a refusal to stop, or the promise of one of them. */
export type Verdict = Refusal | null | Promise<Refusal | null>

/** One step of the story of a request. */
export type Step = (x: Exchange) => Verdict

/** What has reached the client: nothing yet, the head (and perhaps some of the body), or everything. */
type ResponseStage = 'none' | 'begun' | 'complete'

export class Exchange {
  readonly plane: Plane
  readonly client: Client
  readonly head: RequestHead
  readonly ray: string
  /** Monotonic ms. */
  readonly startedAt: number
  /** The snapshot that this exchange began with and keeps. */
  readonly snapshot: Plane['snapshot']
  readonly requestBody: BodyReader
  /** Lower-case requested host name without port. */
  host = ''
  zone: EdgeZone | null = null
  route: EdgeRoute | null = null
  /** How the client of an AI route is answered when the gateway itself answers; null for a request to a zone. */
  aiCaller: AiCaller | null = null
  /** What is known of an AI call, once its route is. */
  ai: AiExchange | null = null
  /** What the log of an AI call hears of it; null where there is none. */
  tap: Tap | null = null
  /** What expressions have looked at. */
  facts: Facts | null = null
  /** What rate limits have found to count it by. */
  keyParts: Map<string, string> | null = null
  /** RateLimit and RateLimit-Policy lines for the response; empty for none. */
  limitFields = ''
  /** The request as origins are asked it: that of the client, until it is rewritten or a redirect is followed. */
  outgoing: RequestHead
  /** What the route changes about the fields of the request and of its response; null for nothing. */
  requestChanges: HeaderChanges | null = null
  answerChanges: HeaderChanges | null = null
  upstream: Upstream | null = null
  /** Most bytes that the request body may have. */
  bodyLimit = Number.POSITIVE_INFINITY
  bytesIn = 0
  bytesOut = 0
  /** The member of the pool that has the request, or had it last. */
  member: EdgeMember | null = null
  retries = 0
  status = 0
  refusal: Refusal | null = null
  stage: ResponseStage = 'none'
  /** Whether the client's connection serves another request after this one. */
  keepAlive: boolean
  /** How the client was told to find the end of the body. */
  responseFraming: Framing = 'none'
  eventStream: EventStream | null = null
  /** Whether the request asks for a WebSocket, and whether it became one. */
  upgrade: 'none' | 'asked' | 'done' = 'none'
  aborted = false
  /** Whether the client asked for a preview of an error, which needs no route. */
  asksForPreview = false
  /** Whether the refusal is that preview, and nothing failed. */
  isPreview = false
  /** Monotonic ms: the last send to an origin began, a streamed body was through, the head of the response came; 0 when it did not come to that. */
  sentAt = 0
  awaitedAt = 0
  answeredAt = 0
  /** Ms that the opening of the connection to the origin took, where this exchange caused it. */
  openingTimes: Dial['times'] | null = null

  #way: Way | null | undefined = undefined
  #paths: readonly string[] | null | undefined = undefined
  #work: Work | null = null

  constructor(
    plane: Plane,
    client: Client,
    head: RequestHead,
    requestBody: BodyReader,
    ray: string,
    snapshot = plane.snapshot,
  ) {
    this.plane = plane
    this.client = client
    this.head = head
    this.outgoing = head
    this.ray = ray
    this.startedAt = plane.clock.monotonic()
    this.snapshot = snapshot
    this.requestBody = requestBody
    this.keepAlive = head.keepAlive
  }

  /** What trusted hops say of the request; null where a stranger sent it, or what is said can't be read. */
  get way(): Way | null {
    if (!this.client.isTrusted) return null
    return this.#way === undefined ? (this.#way = wayOf(this)) : this.#way
  }

  /** The address of the client behind the trusted hops. */
  get clientAddress(): string {
    if (!this.client.isTrusted) return this.client.peer
    return this.way?.hops.at(-1) ?? this.client.peer
  }

  /** What origins may make of the path, as `pathReadings` tells it. */
  get paths(): readonly string[] | null {
    if (this.#paths === undefined) this.#paths = pathReadings(this.head.target)
    return this.#paths
  }

  /** What is left of the work that access rules, rate limits and rewrites may do for it together. */
  get work(): Work {
    return (this.#work ??= new Work())
  }

  get origin(): Origin | null {
    return this.member === null ? null : this.member.target
  }

  becomeEventStream(stream: EventStream): void {
    this.eventStream = stream
    this.plane.metrics.eventStreams.inc()
  }

  /** Hands over a connection that has switched protocols, so that its bytes are passed. */
  becomeTunnel(tunnel: Upstream): void {
    this.status = 101
    this.stage = 'begun'
    this.upgrade = 'done'
    this.plane.metrics.webSockets.inc()
    this.keepAlive = false
    this.upstream = tunnel
  }
}
