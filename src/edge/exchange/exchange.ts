// One request. Every field is set in the constructor, so that all exchanges have one shape.

import type { Facts } from '../../expression/expression.ts'
import { pathReadings } from '../../base/path/path-readings.ts'
import { shortExchanges } from '../../base/turns/short-exchanges.ts'
import { Work } from '../../expression/work-budget.ts'
import type { Audience } from '../../errors/audience/audience.ts'
import { grpcClients } from '../../errors/audience/grpc-clients.ts'
import { people } from '../../errors/audience/people.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { Framing } from '../../http1/body/body.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { RouteResource } from '../../oauth/grants/route-resources.ts'
import type { ClientCertificate } from '../../tls/client-certificate.ts'
import type { LastToken } from '../../tokens/verify.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Tap } from '../ai-call/tap.ts'
import type { Admission } from '../gates/gate.ts'
import type { EdgeRoute, EdgeZone } from '../snapshot/snapshot.ts'
import type { Dial } from '../origin/dial/dial.ts'
import type { Encoded } from '../encoding/encoders.ts'
import type { EventStream } from './event-stream.ts'
import type { Origin } from '../origin/origin.ts'
import type { Plane } from '../snapshot/plane.ts'
import type { PinnedConnections } from '../origin/idle/pinned-connections.ts'
import type { EdgeMember } from '../origin/pools.ts'
import type { HeaderChanges } from '../rewrite/headers.ts'
import type { Trace } from '../trace/trace.ts'
import type { LastRequest } from './request-reuse.ts'
import type { McpExchange } from './mcp-exchange.ts'
import { isGrpc } from './grpc.ts'
import { schemeOf, type Forwarded, forwardedOf } from './forwarded-trust.ts'

export interface ClientTls {
  /** In lower case. */
  readonly serverName: string | null
  readonly version: string
  /** As in IANA's registry. */
  readonly cipher: string
  /** The server name or address whose zone decided on a client certificate. */
  readonly host: string
  /** As in `trustOf`; empty if no certificate was requested. */
  readonly trust: string
  /** By NIST SP 800-52r2. */
  readonly isFips: boolean
  /** Valid or not. */
  readonly certificate: ClientCertificate | null
}

export interface RequestBody {
  readonly framing: Framing
  readonly done: boolean
  /** Names and values in turns. */
  readonly trailers: string[] | null
}

/** The lines (`Name: value` CRLF …) exclude those about the connection. */
export interface ResponseTop {
  readonly status: number
  readonly reason: string
  readonly lines: string
  /** No hop may index them (RFC 7541 section 6.2.3). */
  readonly neverIndexed?: boolean
}

/** Writes a response; `data` and `flush` return false when the client should be given time to read. */
export interface ResponseSink {
  readonly hasBegun: boolean
  /** Whether the bytes may be overwritten once `data` returns. */
  readonly copiesData?: boolean
  data(bytes: Buffer): boolean
  flush(): boolean
  end(trailers: readonly string[] | null): void
}

export interface Client {
  readonly peer: string
  /** The peer as a node of Forwarded (RFC 7239 section 6). */
  readonly node: string
  readonly lastToken: LastToken
  readonly last: LastRequest
  readonly isTrusted: boolean
  readonly tls: ClientTls | null
  readonly isPlaintextOnTls: boolean
  pinned: PinnedConnections | null
  /** RFC 9110 section 10.1.1. */
  sendContinue(exchange: Exchange): void
  /** Only if the client understands it; false when it should be given time to read. */
  interim(exchange: Exchange, top: ResponseTop): boolean
  /** The body is latin1; must be followed by `finish`. */
  respond(exchange: Exchange, top: ResponseTop, body: string): void
  /** `responseFraming` says how the end is marked. */
  relay(exchange: Exchange, top: ResponseTop): ResponseSink
  append(exchange: Exchange, text: string): void
  endBody(exchange: Exchange): void
  switchProtocols(exchange: Exchange, top: ResponseTop): void
  /** False when the client should be given time to read. */
  write(bytes: Buffer): boolean
  /** Whether the rest of a small body is read to keep the connection; then calls `then`. */
  discardBody(exchange: Exchange, then: () => void): boolean
  readBody(): void
  pauseBody(): void
  finish(exchange: Exchange): void
  /**
   * Lets the client see the truncation, `gently` after what is written already. Over HTTP/2, trailers that
   * name the failure replace a reset.
   */
  cutOff(exchange: Exchange, gently: boolean, trailers?: readonly string[]): void
  /** Also ends the connection: the client has left, or no longer reads. */
  abandon(exchange: Exchange): void
  /** The exchange has ended, which had gone on without it. */
  endedWithout(exchange: Exchange): void
  /** Makes the client retry over HTTP/1.1, without a response. Undefined for HTTP/1.1. */
  requireHttp1?(exchange: Exchange): void
}

export interface RequestHandler {
  readonly deadline: number
  /** Whether the bytes may be overwritten once `body` returns. */
  readonly copiesBody?: boolean
  expire(): void
  body(bytes: Buffer): void
  flushBody(): void
  bodyEnd(): void
  clientDrained(): void
  /** Nothing may be written any more. */
  abort(): void
  goAway?(): void
  /** Closes with the reason, where the protocol has one; `abort` must follow. */
  closeNow?(code: number, reason: string): void
  readonly isFullySent?: boolean
}

/** Null to pass, a refusal to stop. */
export type Verdict = Refusal | null | Promise<Refusal | null>

/** `responded` if the step has sent the response itself. */
export type Decided = Verdict | 'responded' | Promise<Refusal | 'responded' | null>

export type Step = (x: Exchange) => Decided

type ResponseStage = 'none' | 'begun' | 'complete'

export class Exchange {
  readonly plane: Plane
  /** Replaced if it leaves while others wait for the response. */
  client: Client
  readonly head: RequestHead
  readonly ray: string
  readonly startedAt: number
  /** The one in effect when the exchange began. */
  readonly snapshot: Plane['snapshot']
  readonly requestBody: RequestBody
  /** In lower case, without the port. */
  host = ''
  zone: EdgeZone | null = null
  route: EdgeRoute | null = null
  /** `locate` chooses it for AI routes. */
  audience: Audience
  ai: AiExchange | null = null
  /** Null unless the route leads to an MCP server. */
  mcp: McpExchange | null = null
  /** Only our own side port may see the credential. */
  credentialPlace: string | null = null
  tap: Tap | null = null
  facts: Facts | null = null
  keyParts: Map<string, string> | null = null
  /** Lines that steps add to the response: about rate limits, and for callers of AI routes. */
  addedLines = ''
  /** The head itself, until a gate lets it in, it is rewritten or a redirect is followed. */
  outgoing: RequestHead
  requestChanges: HeaderChanges | null = null
  /** By a gate of the route; null if it has none. */
  admission: Admission | null = null
  responseChanges: HeaderChanges | null = null
  /** Null during the steps, and at the end. */
  handler: RequestHandler | null = null
  bodyLimit = Number.POSITIVE_INFINITY
  bytesIn = 0
  bytesOut = 0
  member: EdgeMember | null = null
  retries = 0
  /** Cookies of this gateway pass only to and from our own side port. */
  isToSidePort = false
  status = 0
  refusal: Refusal | null = null
  stage: ResponseStage = 'none'
  keepAlive: boolean
  /** `chunked` for an unknown length in any version. */
  responseFraming: Framing = 'none'
  eventStream: EventStream | null = null
  compressed: Encoded | null = null
  upgrade: 'none' | 'requested' | 'done' = 'none'
  aborted = false
  /** 0 if it does not count as a short exchange. */
  #shortRound = 0
  asksForPreview = false
  asksForMetadata = false
  asksForKeySet = false
  /** The route whose metadata is asked for. */
  resource: RouteResource | null = null
  /** SDKs open their connection with a HEAD of the base URL, and browsers a call with a preflight. */
  isOpening = false
  isPreview = false
  /** Monotonic ms of the last send, the end of a streamed body, and the head of the response; 0 before. */
  sentAt = 0
  bodySentAt = 0
  respondedAt = 0
  openingTimes: Dial['times'] | null = null
  trace: Trace | null = null

  #forwarded: Forwarded | null | undefined = undefined
  #paths: readonly string[] | null | undefined = undefined
  #work: Work | null = null

  constructor(
    plane: Plane,
    client: Client,
    head: RequestHead,
    requestBody: RequestBody,
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
    this.audience = isGrpc(head) ? grpcClients : people
  }

  /** Null if the peer is not trusted or the report is malformed. */
  get forwarded(): Forwarded | null {
    if (!this.client.isTrusted) return null
    return this.#forwarded === undefined ? (this.#forwarded = forwardedOf(this)) : this.#forwarded
  }

  get clientAddress(): string {
    if (!this.client.isTrusted) return this.client.peer
    return this.forwarded?.hops.at(-1) ?? this.client.peer
  }

  get paths(): readonly string[] | null {
    if (this.#paths === undefined) this.#paths = pathReadings(this.head.target)
    return this.#paths
  }

  get work(): Work {
    return (this.#work ??= new Work())
  }

  /** By which the client reached this gateway, or the first trusted hop. */
  get scheme(): 'http' | 'https' {
    return this.forwarded?.proto ?? schemeOf(this.client)
  }

  /** Delays long work until the head of the response is relayed, unless that takes long. */
  holdLongWork(): void {
    this.#shortRound = shortExchanges.begin(this.startedAt)
  }

  releaseLongWork(): void {
    if (this.#shortRound === 0) return
    shortExchanges.passed(this.#shortRound)
    this.#shortRound = 0
  }

  /** In monotonic ms with the precision of a tick; Infinity for 0. */
  deadlineIn(timeout: number): number {
    return timeout === 0 ? Number.POSITIVE_INFINITY : this.plane.coarseNow + timeout
  }

  get origin(): Origin | null {
    return this.member === null ? null : this.member.target
  }

  becomeEventStream(stream: EventStream): void {
    this.eventStream = stream
    this.plane.metrics.eventStreams.inc()
  }

  /** Nothing of the response was sent. */
  takeBackResponse(): void {
    if (this.eventStream !== null) this.plane.metrics.eventStreams.dec()
    this.eventStream = null
    this.bytesOut = 0
    this.status = 0
  }

  becomeTunnel(tunnel: RequestHandler): void {
    this.releaseLongWork()
    this.status = 101
    this.stage = 'begun'
    this.upgrade = 'done'
    this.plane.metrics.webSockets.inc()
    this.keepAlive = false
    this.handler = tunnel
  }
}

/** Returns the id of the log entry that an exchange will have; null for none. */
export function logIdOf({ tap, ray }: Exchange): string | null {
  return tap?.isUnderWay && tap.isStored ? ray : null
}
