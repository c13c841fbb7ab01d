// The admin listener: a small strict server beside the data plane.

import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createServer, lingerBehindResponses } from '../net/http/node-http.ts'
import { freeDescriptors } from '../net/socket/descriptors.ts'
import { backlog, handleOf, type SocketHandle } from '../net/socket/listening-socket.ts'
import { sendStream } from '../net/http/send-stream.ts'
import { nextTurn } from '../base/turns/turns.ts'
import type { SidePortAuth } from '../net/http/side-port-auth.ts'
import type { Endpoint } from '../config/model/config.ts'
import type { Token } from '../store/records/records.ts'
import { StoreUnreachable } from '../store/contract/store.ts'
import { LastToken } from '../tokens/verify.ts'
import { type ApiResponse, failure } from './http/envelope.ts'
import type { SidePortApp } from './api/side-port-app.ts'
import { noPage } from './service/no-page.ts'
import { refuseBytes, refuseTunnel } from './raw-refusals.ts'
import { readBody } from './http/request-body.ts'
import { type Facts, routes } from './routes.ts'
import { unsupportedAt } from './gateways/unsupported.ts'
import { type Method, type Requester, Router } from './http/router.ts'
import { type Sender, senderOf } from './http/caller-address.ts'

const limits = {
  maxHeaderSize: 8 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 5_000,
}

const strictHeaders = [
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'self'"],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'SAMEORIGIN'],
] as const

/** The share of the free file descriptors for the connections of one listener. */
const shareOfDescriptors = 1 / 3

/** The timeout in ms of a first request once the port is left to another gateway. */
const firstRequest = 1_000

/** Parts of a response whose length is computed in one turn. */
const partsInATurn = 16

/** Fields that a response cannot set, since each may occur only once. */
const ownNames: ReadonlySet<string> = new Set(['content-length', 'svc-ray'])

export interface Question {
  readonly method: Method
  readonly target: string
  readonly sender: Sender
  /** Sent as JSON, or as text if it has another type; absent for none. */
  readonly body?: unknown
  readonly contentType?: string | undefined
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: string | undefined
  readonly idempotencyKey?: string | undefined
}

export class AdminServer {
  readonly #server: Server
  readonly #edgeServer: Server
  readonly #router = new Router(routes, unsupportedAt)
  readonly #facts: Facts
  /** Resolves with the end of the last connection; null while it listens, and before. */
  #closed: Promise<void> | null = null
  /** Whether another gateway takes over the side port. */
  #isLeaving = false
  /** When it stopped listening, in monotonic ms. */
  #hushedAt = 0
  readonly #fresh = new Set<Socket>()
  readonly #idle = new Set<Socket>()
  readonly #shown = new WeakMap<Socket, LastToken>()
  readonly #bug: (cause: unknown) => void
  /** Authenticates the edge, whose client addresses are then trusted; null to trust none. */
  sidePortAuth: SidePortAuth | null
  /** The apps besides the table; the first that takes a path serves it. */
  apps: readonly SidePortApp[] = []
  /** Those of them that the edge may reach. */
  published: readonly SidePortApp[] = []
  /** Where `/` leads browsers; null for nowhere. */
  front: string | null = null

  /** Called for each connection that was closed because there were too many. */
  refused: () => void = () => {}

  /** `bug` receives what a handler throws; the client sees only that it happened. */
  constructor(facts: Facts, bug: (cause: unknown) => void, sidePortAuth: SidePortAuth | null = null) {
    this.#facts = facts
    this.#bug = bug
    this.sidePortAuth = sidePortAuth
    this.#server = this.#serverFor((request, response) => this.#serve(request, response), this.#idle)
    this.#edgeServer = this.#serverFor((request, response) => this.#serveEdge(request, response))
  }

  /** Listens on loopback for the edge alone, which gets only the published apps. */
  async listenForEdge(): Promise<Endpoint> {
    const host = '127.0.0.1'
    this.#edgeServer.listen({ host, port: 0 })
    await once(this.#edgeServer, 'listening')
    return { host, port: (this.#edgeServer.address() as AddressInfo).port }
  }

  /** Returns the real port, also for 0. With `reusePort` it listens beside another socket of this user. */
  async listen(
    { host, port }: Endpoint,
    handle: SocketHandle | null = null,
    reusePort = false,
  ): Promise<Endpoint> {
    this.#server.listen(handle ?? { host, port, reusePort }, backlog)
    await once(this.#server, 'listening')
    this.#closed = null
    this.#isLeaving = false
    return { host, port: (this.#server.address() as AddressInfo).port }
  }

  get handle(): SocketHandle | null {
    return this.#server.listening ? handleOf(this.#server) : null
  }

  hush(): void {
    if (!this.#server.listening) return
    this.#hushedAt = performance.now()
    this.#closed = stopListening(this.#server)
    this.leaving = true
  }

  /** While leaving, it serves one request per connection: further ones are for the next gateway. */
  set leaving(isLeaving: boolean) {
    this.#isLeaving = isLeaving
    if (isLeaving) for (const socket of this.#idle) socket.destroySoon()
  }

  /** Stops listening, finishes running requests and ends idle connections. */
  async close(): Promise<void> {
    this.hush()
    const closed = Promise.all([this.#closed, stopListening(this.#edgeServer)])
    // A connection that got its response before its body had arrived becomes idle only later.
    const idle = setInterval(() => this.#closeIdle(), 50)
    await closed
    clearInterval(idle)
    // Their timers would otherwise keep running.
    this.#server.close()
    this.#edgeServer.close()
  }

  /** Node counts connections whose first request is still arriving as idle; these are kept. */
  #closeIdle(): void {
    if (this.#fresh.size > 0 && performance.now() - this.#hushedAt < firstRequest) return
    this.#server.closeIdleConnections()
    this.#edgeServer.closeIdleConnections()
  }

  /** Handles an in-process call exactly like a request with the token of the caller. */
  askAs(caller: Token, question: Question): Promise<ApiResponse> {
    const { method, target, sender, body, contentType = 'application/json' } = question
    const isText = contentType !== 'application/json' && typeof body === 'string'
    const bytes = Buffer.from(body === undefined ? '' : isText ? body : JSON.stringify(body))
    return this.#router.respond(
      method,
      target,
      {
        ...sender,
        accept: null,
        authorization: null,
        contentType: body === undefined ? null : contentType,
        ifMatch: question.ifMatch ?? null,
        ifNoneMatch: question.ifNoneMatch ?? null,
        idempotencyKey: question.idempotencyKey ?? null,
        caller,
        readBody: async maxBytes => (bytes.length > maxBytes ? null : bytes),
      },
      this.#facts,
    )
  }

  #serverFor(
    serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
    idle = new Set<Socket>(),
  ): Server {
    /** The last of each connection. */
    const responses = new WeakMap<Duplex, ServerResponse>()
    const server = createServer(limits, (request, response) => {
      const { socket } = request
      responses.set(socket, response)
      this.#fresh.delete(socket)
      idle.delete(socket)
      response.once('close', () => {
        if (!request.complete || socket.destroyed) return
        if (server.listening && !(server === this.#server && this.#isLeaving)) idle.add(socket)
        else socket.destroySoon()
      })
      serve(request, response).catch((bug: unknown) => this.#crashed(bug, response))
    })
    lingerBehindResponses(server)
    server.maxConnections = Math.max(1, freeDescriptors() * shareOfDescriptors)
    server.on('connection', (socket: Socket) => {
      this.#fresh.add(socket)
      socket.once('close', () => {
        this.#fresh.delete(socket)
        idle.delete(socket)
      })
    })
    server.on('drop', () => this.refused())
    /** Behind a whole request, the response to that comes first: clients would take one for the other. */
    const inTurn = (socket: Duplex, refuse: () => void) => {
      const before = responses.get(socket)
      if (before?.req.complete === true && !before.writableFinished) before.once('close', refuse)
      else refuse()
    }
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const refuse = () => refuseBytes(error, socket, limits.maxHeaderSize)
      // A connection that failed takes no response.
      if (error.code?.startsWith('HPE_') === true) inTurn(socket, refuse)
      else refuse()
    })
    server.on('connect', (_, socket) => inTurn(socket, () => refuseTunnel(socket)))
    // A failure to listen is reported to the caller of `listen`.
    server.on('error', error => server.listening && this.#bug(error))
    return server
  }

  /** Cuts a request off: no part of its response can be trusted. */
  #crashed(bug: unknown, response: ServerResponse): void {
    this.#bug(bug)
    response.destroy()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await nextTurn()
    const sender = senderOf(request, this.sidePortAuth)
    const app = appOf(this.apps, request)
    if (app !== undefined) return this.#serveByFace(app, request, response, sender)
    // A client that accepts anything, such as curl, gets the page of links.
    const lead = isBrowser(request) ? this.#leadFrom(request) : null
    const made = lead ?? (await this.#respond(request, sender))
    const isNothing = made.status === 404 && !pathOf(request.url!).startsWith('/client/')
    await this.#send(isNothing ? this.#nothing(request, made) : made, request, response, sender)
  }

  /** Serves a request at the listener for the edge, which must authenticate itself. */
  async #serveEdge(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await nextTurn()
    const sender = senderOf(request, this.sidePortAuth)
    const app = sender.isVouched ? appOf(this.published, request) : undefined
    if (app !== undefined) return this.#serveByFace(app, request, response, sender)
    const lead = sender.isVouched ? this.#leadFrom(request) : null
    const refusal = failure('no_route', pathOf(request.url!).slice(0, 200))
    await this.#send(lead ?? this.#nothing(request, refusal), request, response, sender)
  }

  #nothing(request: IncomingMessage, refusal: ApiResponse): ApiResponse {
    const isJson = refusal.headers['content-type']?.includes('json') === true
    return isJson && isBrowser(request) ? noPage(this.front) : refusal
  }

  /** Redirects a browser from `/` to the start page; null for other paths. */
  #leadFrom({ method, url }: IncomingMessage): ApiResponse | null {
    if (this.front === null || pathOf(url!) !== '/' || (method !== 'GET' && method !== 'HEAD')) return null
    return { status: 303, headers: { location: this.front, vary: 'Accept' }, body: '' }
  }

  async #serveByFace(
    app: SidePortApp,
    request: IncomingMessage,
    response: ServerResponse,
    sender: Sender,
  ): Promise<void> {
    response.setHeader('svc-ray', sender.ray)
    for (const [name, value] of strictHeaders) response.setHeader(name, value)
    if (this.#isLeaving) response.setHeader('connection', 'close')
    try {
      await app.serve(request, response, sender)
    } catch (cause) {
      if (cause !== request.errored) this.#bug(cause)
      // A response that has begun must not look complete.
      if (response.headersSent) return void response.destroy()
      for (const name of response.getHeaderNames()) response.removeHeader(name)
      await this.#send(failure('internal_error'), request, response, sender)
    } finally {
      // The rest of an unread body would block the next request of the connection.
      request.resume()
    }
  }

  async #send(
    made: ApiResponse,
    request: IncomingMessage,
    response: ServerResponse,
    sender: Sender,
  ): Promise<void> {
    const parts = [made.body, ...(made.rest ?? [])]
    const fields = ['svc-ray', sender.ray]
    if (made.stream === undefined)
      fields.push(
        'content-length',
        String(made.rest === undefined ? Buffer.byteLength(made.body) : await lengthOf(parts)),
      )
    if (this.#isLeaving) fields.push('connection', 'close')
    for (const name in made.headers) if (!ownNames.has(name)) fields.push(name, made.headers[name]!)
    for (const [name, value] of strictHeaders) if (!(name in made.headers)) fields.push(name, value)
    response.writeHead(made.status, fields)
    if (request.method === 'HEAD') response.end()
    else if (made.stream !== undefined) await this.#stream(parts, made.stream, response)
    // A text goes out in one write with the head, bytes would take two.
    else if (parts.length === 1) response.end(parts[0])
    // A client that disconnects in between is not an error.
    else await pipeline(Readable.from(oneInATurn(parts)), response).catch(() => {})
  }

  async #stream(
    parts: readonly string[],
    stream: AsyncIterable<string>,
    response: ServerResponse,
  ): Promise<void> {
    try {
      await sendStream(response, parts, stream)
    } catch (cause) {
      if (!(cause instanceof StoreUnreachable)) this.#bug(cause)
    }
  }

  #shownOn(socket: Socket): LastToken {
    let shown = this.#shown.get(socket)
    if (shown === undefined) this.#shown.set(socket, (shown = new LastToken()))
    return shown
  }

  async #respond(request: IncomingMessage, sender: Sender): Promise<ApiResponse> {
    try {
      const requester = requesterOf(request, sender, this.#shownOn(request.socket))
      return await this.#router.respond(request.method!, request.url!, requester, this.#facts)
    } catch (cause) {
      // A caller who disconnects in the middle of a body is not a bug, and there is no reader for a response.
      if (cause !== request.errored) this.#bug(cause)
      return failure('internal_error')
    }
  }
}

function isBrowser({ headers }: IncomingMessage): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '')
}

/** Node's own `close` would end connections whose request has not been read yet. */
function stopListening(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve()
  return new Promise(resolve => NetServer.prototype.close.call(server, () => resolve()))
}

function appOf(apps: readonly SidePortApp[], { url }: IncomingMessage): SidePortApp | undefined {
  const path = pathOf(url!)
  return apps.find(app => app.takes(path))
}

function pathOf(target: string): string {
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}

async function lengthOf(parts: readonly string[]): Promise<number> {
  let length = 0
  for (const [at, part] of parts.entries()) {
    if (at % partsInATurn === partsInATurn - 1) await nextTurn()
    length += Buffer.byteLength(part)
  }
  return length
}

async function* oneInATurn(parts: readonly string[]): AsyncGenerator<string> {
  for (const part of parts) {
    yield part
    await nextTurn()
  }
}

function requesterOf(request: IncomingMessage, sender: Sender, shown: LastToken): Requester {
  const { headers } = request
  return {
    accept: headers.accept ?? null,
    authorization: onlyOne(request, 'authorization'),
    contentType: headers['content-type'] ?? null,
    ifMatch: headers['if-match'] ?? null,
    ifNoneMatch: headers['if-none-match'] ?? null,
    idempotencyKey: onlyOne(request, 'idempotency-key'),
    ...sender,
    shown,
    readBody: maxBytes => readBody(request, maxBytes),
  }
}

/** Empty if it occurs more often, which is never valid. */
function onlyOne({ headers, rawHeaders }: IncomingMessage, name: string): string | null {
  const value = headers[name]
  if (value === undefined) return null
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === name.length && rawHeaders[at]!.toLowerCase() === name) count++
  return count > 1 ? '' : (value as string)
}
