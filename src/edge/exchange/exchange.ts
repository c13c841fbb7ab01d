// One request and everything that is learned about it. Steps write their findings here, and the record reads them all; every field is set in the constructor so that
// all exchanges have one shape.

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
import type { ClientCertificate } from '../../tls/client-certificate.ts'
import type { Shown } from '../../tokens/verify.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import type { Tap } from '../ai-call/tap.ts'
import type { EdgeRoute, EdgeZone } from '../snapshot/snapshot.ts'
import type { Dial } from '../origin/dial/dial.ts'
import type { Encoded } from '../encoding/encoding.ts'
import type { EventStream } from './event-stream.ts'
import type { Origin } from '../origin/origin.ts'
import type { Plane } from '../snapshot/plane.ts'
import type { PinnedConnections } from '../origin/idle/pinned-connections.ts'
import type { EdgeMember } from '../origin/pools.ts'
import type { HeaderChanges } from '../rewrite/headers.ts'
import type { Trace } from '../trace/trace.ts'
import type { LastRequest } from './request-reuse.ts'
import { isGrpc } from './grpc.ts'
import { schemeOf, type Forwarded, forwardedOf } from './forwarded-trust.ts'

/** What the TLS handshake of a client has shown. */
export interface ClientTls {
  /** The host that it asked for, in lower case; null where it named none. */
  readonly serverName: string | null
  /** Such as TLSv1.3. */
  readonly version: string
  /** The name of the cipher suite in the registry of IANA. */
  readonly cipher: string
  /** The host whose zone decided what was asked of it: the server name, or the address that it connected to. */
  readonly host: string
  /** By which authorities a certificate was asked for, as `trustOf` names them; empty where none was. */
  readonly trust: string
  /** Whether only what NIST SP 800-52r2 approves could be agreed on. */
  readonly isFips: boolean
  /** The certificate that was shown, good or not; null for none. */
  readonly certificate: ClientCertificate | null
}

/** What the steps need to know of the body of a request, whoever reads it. */
export interface RequestBody {
  /** How an origin of HTTP/1.1 is to find its end. */
  readonly framing: Framing
  /** Whether all of it has come. */
  readonly done: boolean
  /** What came behind it and may go on to the next hop; flat, null for none. */
  readonly trailers: string[] | null
}

/** What is said of a response before its body: its status, the reason for versions that have one, and lines (`Name: value` CRLF …), none of which is about the connection. */
export interface ResponseTop {
  readonly status: number
  readonly reason: string
  readonly lines: string
}

/** Takes a response on its way to the client. */
export interface ResponseSink {
  /** Whether anything of it was written. */
  readonly hasBegun: boolean
  /** Takes body bytes; false when the client should be given time to read. */
  data(bytes: Buffer): boolean
  /** Writes what is held; false when the client should be given time to read. */
  flush(): boolean
  /** Ends the body; the trailers are flat, null for none. */
  end(trailers: readonly string[] | null): void
}

/** The client's side of an exchange, as the steps need it, whatever the version of HTTP. */
export interface Client {
  /** The remote address of the socket. */
  readonly peer: string
  /** The peer as a node of Forwarded (RFC 7239 section 6). */
  readonly node: string
  /** The last token that it sent. */
  readonly shown: Shown
  /** What was made of its last request. */
  readonly last: LastRequest
  /** Whether the peer is a trusted hop, whose forwarding fields are believed. */
  readonly isTrusted: boolean
  /** Null for plain HTTP. */
  readonly tls: ClientTls | null
  /** Whether it speaks plain HTTP where TLS is expected. */
  readonly isPlaintextOnTls: boolean
  /** The connections to origins that belong to its connection; null for none. */
  pinned: PinnedConnections | null
  /** Asks a client that waits for it to send its body (RFC 9110 section 10.1.1). */
  sendContinue(exchange: Exchange): void
  /** Sends an interim response (RFC 9110 section 15.2), where the client understands one; false when it should be given time to read. */
  interim(exchange: Exchange, top: ResponseTop): boolean
  /** Sends a whole response of our own, its body as latin1 text; `finish` has to follow. */
  respond(exchange: Exchange, top: ResponseTop, body: string): void
  /** Begins the response of an origin, whose end is marked as `responseFraming` says. */
  relay(exchange: Exchange, top: ResponseTop): ResponseSink
  /** Sends text behind all that was sent of a body whose length nobody announced. */
  append(exchange: Exchange, text: string): void
  /** Ends such a body, and the exchange. */
  endBody(exchange: Exchange): void
  /** Sends the response that makes a WebSocket of the exchange. */
  switchProtocols(exchange: Exchange, top: ResponseTop): void
  /** Sends bytes of a WebSocket; false when the client should be given time to read. */
  write(bytes: Buffer): boolean
  /** Whether the rest of a small body is read before the response, since a client that is refused may then go on on its connection; calls back once it is. */
  discardBody(exchange: Exchange, then: () => void): boolean
  /** Resumes reading the request body, which is then passed to `RequestHandler.body`. */
  readBody(): void
  /** Pauses the request body until `readBody`. */
  pauseBody(): void
  /** Ends the exchange: the response is complete. */
  finish(exchange: Exchange): void
  /** Ends the exchange, and the connection where that takes it, so that the client sees the truncation; with `gently`, what is written already is flushed first. Trailers that name the failure come over HTTP/2 in place of a reset. */
  cutOff(exchange: Exchange, gently: boolean, trailers?: readonly string[]): void
  /** Ends the exchange and the connection of a client that has left, or no longer reads. */
  abandon(exchange: Exchange): void
  /** Ends the exchange without a response: the client is to make the request over HTTP/1.1. Not for one that does. */
  requireHttp1?(exchange: Exchange): void
}

/** Handles a request under way to its origin: what the client's side reports. */
export interface RequestHandler {
  /** Monotonic ms at which `expire` is to be called. */
  readonly deadline: number
  expire(): void
  /** Takes decoded body bytes. */
  body(bytes: Buffer): void
  /** All body bytes that were received so far are delivered. */
  flushBody(): void
  bodyEnd(): void
  /** The client can be written to again after `write` returned false. */
  clientDrained(): void
  /** The client is gone; nothing may be written any more. */
  abort(): void
  /** A shutdown is near its end: both sides are informed where their protocol has a way to. */
  goAway?(): void
  /** Whether everything has been sent to the client, so that closing its connection truncates nothing. */
  readonly isFarewellSaid?: boolean
}

/** The verdict of a step: null to pass, a refusal to stop, or a promise of one of them. */
export type Verdict = Refusal | null | Promise<Refusal | null>

/** One step in the life of a request; `answered` where it has sent the response itself. */
export type Step = (x: Exchange) => Verdict | 'responded'

/** What was sent to the client: nothing yet, the head (and perhaps part of the body), or everything. */
type ResponseStage = 'none' | 'begun' | 'complete'

export class Exchange {
  readonly plane: Plane
  readonly client: Client
  readonly head: RequestHead
  readonly ray: string
  /** Monotonic ms. */
  readonly startedAt: number
  /** The snapshot that this exchange started with and keeps. */
  readonly snapshot: Plane['snapshot']
  readonly requestBody: RequestBody
  /** Lower-case requested host name without port. */
  host = ''
  zone: EdgeZone | null = null
  route: EdgeRoute | null = null
  /** Who an error of this exchange would be for; `locate` chooses it for AI routes. */
  audience: Audience
  /** The state of an AI call, once its route is known. */
  ai: AiExchange | null = null
  /** Where it has a credential of this gateway, which only our own side port may see; null for none, as far as it was looked for. */
  credentialPlace: string | null = null
  /** What is recorded for the log of an AI call; null where there is none. */
  tap: Tap | null = null
  /** The facts for expressions, once one needs them. */
  facts: Facts | null = null
  /** The parts of rate limit keys that were computed so far. */
  keyParts: Map<string, string> | null = null
  /** Lines that steps add to the response, whoever writes it: those of rate limits, and what an AI call is told. */
  addedLines = ''
  /** The request as it is sent to origins: the client's, until it is rewritten or a redirect is followed. */
  outgoing: RequestHead
  /** What the route changes in the fields of the request and of its response; null for nothing. */
  requestChanges: HeaderChanges | null = null
  responseChanges: HeaderChanges | null = null
  /** What handles the request now; null while its steps decide, and once it is over. */
  handler: RequestHandler | null = null
  /** The most bytes that the request body may have. */
  bodyLimit = Number.POSITIVE_INFINITY
  bytesIn = 0
  bytesOut = 0
  /** The member of the pool that is handling the request, or did so last. */
  member: EdgeMember | null = null
  retries = 0
  /** Whether the request was last sent to our own side port, whose cookies pass; those of this gateway pass to and from nobody else. */
  isToSidePort = false
  status = 0
  refusal: Refusal | null = null
  stage: ResponseStage = 'none'
  /** Whether the client's connection serves another request after this one. */
  keepAlive: boolean
  /** How the client finds the end of the body; `chunked` where its length is not known before, whatever the version makes of that. */
  responseFraming: Framing = 'none'
  eventStream: EventStream | null = null
  /** The body of its response where that is compressed. */
  compressed: Encoded | null = null
  /** Whether the request asks for a WebSocket, and whether it became one. */
  upgrade: 'none' | 'requested' | 'done' = 'none'
  aborted = false
  /** What it is counted under as a short exchange; 0 before and after. */
  #shortRound = 0
  /** Whether the client asked for a preview of an error, which needs no route. */
  asksForPreview = false
  /** Whether it asked for the metadata of AI routes. */
  asksForMetadata = false
  /** Whether it is a HEAD request for a base URL of AI calls, by which programs open their connection. */
  asksForBase = false
  /** Whether the refusal is that preview, and nothing actually failed. */
  isPreview = false
  /** In monotonic ms: the last send to an origin began, a streamed body was sent, the head of the response arrived; 0 where that did not happen. */
  sentAt = 0
  bodySentAt = 0
  respondedAt = 0
  /** Ms that it took to open the connection to the origin, where this exchange opened it. */
  openingTimes: Dial['times'] | null = null
  /** Its place in a trace, once that is asked for; null where that is not sampled. */
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

  /** What trusted hops report about the request; null where the peer is not trusted, or where it cannot be read. */
  get forwarded(): Forwarded | null {
    if (!this.client.isTrusted) return null
    return this.#forwarded === undefined ? (this.#forwarded = forwardedOf(this)) : this.#forwarded
  }

  /** The address of the client behind the trusted hops. */
  get clientAddress(): string {
    if (!this.client.isTrusted) return this.client.peer
    return this.forwarded?.hops.at(-1) ?? this.client.peer
  }

  /** The ways in which origins may read the path, from `pathReadings`. */
  get paths(): readonly string[] | null {
    if (this.#paths === undefined) this.#paths = pathReadings(this.head.target)
    return this.#paths
  }

  /** The work that is left for access rules, rate limits and rewrites together. */
  get work(): Work {
    return (this.#work ??= new Work())
  }

  /** The scheme by which the client reached this gateway, or as a trusted hop reports it. */
  get scheme(): 'http' | 'https' {
    return this.forwarded?.proto ?? schemeOf(this.client)
  }

  /** Has steps of long work wait for it: until the head of its response is relayed, unless that takes long. */
  holdLongWork(): void {
    this.#shortRound = shortExchanges.begin(this.startedAt)
  }

  /** Has them wait no longer. */
  releaseLongWork(): void {
    if (this.#shortRound === 0) return
    shortExchanges.passed(this.#shortRound)
    this.#shortRound = 0
  }

  get origin(): Origin | null {
    return this.member === null ? null : this.member.target
  }

  becomeEventStream(stream: EventStream): void {
    this.eventStream = stream
    this.plane.metrics.eventStreams.inc()
  }

  /** Hands over a connection that has switched protocols, so that its bytes are passed through. */
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
