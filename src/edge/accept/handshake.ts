// The TLS handshake of a client, from its first byte until there is a connection that HTTP can use, or none.

import { isIP, type Socket } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'
import { canonicalAddress } from '../../net/address/address.ts'
import { ignoreErrors } from '../../net/socket/closed-socket.ts'
import { reset } from '../../net/socket/reset.ts'
import type { TlsFailure } from '../../metrics/counters/edge-metrics.ts'
import { trustOf } from '../../certificates/client-trust.ts'
import { ClientCertificate } from '../../tls/client-certificate.ts'
import { offersFips } from '../../tls/fips.ts'
import { type ClientHello, readClientHello } from '../../tls/client-hello.ts'
import type { ClientTls } from '../exchange/exchange.ts'
import { highWaterMark } from '../origin/dial/dial.ts'
import { guarded } from '../../base/guarded.ts'
import type { Plane } from '../snapshot/plane.ts'

/** A fatal alert: unrecognized_name (RFC 6066 section 3), which says that there is no certificate for the name. */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112])

/** What a client asked for in its hello, and what is asked of it. */
type Aim = Pick<ClientTls, 'serverName' | 'host' | 'trust' | 'isFips'>

const anyCipher: readonly string[] = []
/** Names with their lengths before them (RFC 7301 section 3.1). */
const bothVersions = Buffer.from('\x02h2\x08http/1.1', 'latin1')
const http1Only = Buffer.from('\x08http/1.1', 'latin1')
const validationOnly = Buffer.from('\x0aacme-tls/1', 'latin1')

/** Ms that a client has for what comes before its first request, once the gateway stops. */
export const drainPatience = 1_000

interface HandshakeOwner {
  /** There is a connection, secured or, with null, one that spoke something else than TLS; `handshake` is over. */
  shaken(handshake: Handshake, socket: Socket, tls: ClientTls | null, isHttp2: boolean): void
  /** There will be none; `handshake` is over. */
  failed(handshake: Handshake): void
}

export class Handshake {
  readonly peer: string
  readonly hasRequested = false
  readonly isIdle = false
  readonly progress = 'silent'
  readonly #socket: Socket
  readonly #plane: Plane
  readonly #owner: HandshakeOwner
  /** Monotonic ms by which it must be over. */
  #deadline: number
  #hello: Buffer | null = null
  #secured: TLSSocket | null = null
  /** Null for a certificate authority that only checks who is here. */
  #aim: Aim | null = null
  #isOver = false
  readonly #crashed = (bug: unknown): void => {
    this.#plane.log.error({ err: bug }, 'TLS handshake failed: internal error')
    this.#fail('other')
  }
  readonly #received = guarded<Buffer>(bytes => this.#receive(bytes), this.#crashed)
  readonly #left = guarded(() => this.#fail('closed'), this.#crashed)
  readonly #done = guarded(() => this.#finish(), this.#crashed)
  readonly #broke = guarded<NodeJS.ErrnoException>(error => this.#fail(failureOf(error)), this.#crashed)

  /** `proxied` says of whom the connection is, and until when it has time, where a load balancer has announced it. */
  constructor(
    socket: Socket,
    plane: Plane,
    owner: HandshakeOwner,
    proxied: { readonly peer: string; readonly deadline: number } | null = null,
  ) {
    this.#socket = socket
    this.#plane = plane
    this.#owner = owner
    this.peer = proxied?.peer ?? canonicalAddress(socket.remoteAddress ?? '') ?? ''
    this.#deadline = proxied?.deadline ?? plane.coarseNow + plane.snapshot.client.handshakeTimeout
    ignoreErrors(socket)
    on(socket, 'data', this.#received)
    on(socket, 'end', this.#left)
    on(socket, 'close', this.#left)
  }

  /** Whether its client has sent all of a hello that leads to a handshake. */
  get hasSentHello(): boolean {
    return this.#secured !== null
  }

  /** Ends it at its deadline. */
  sweep(now: number): void {
    if (now >= this.#deadline) this.#fail('timeout')
  }

  /** Leaves it a moment to go on: its client may have sent a request behind it. */
  drain(): void {
    this.#deadline = Math.min(this.#deadline, this.#plane.coarseNow + drainPatience)
  }

  goAway(): void {}

  /** Cuts the connection. */
  destroy(): void {
    this.#end()
    this.#cut()
  }

  #receive(bytes: Buffer): void {
    this.#hello = this.#hello === null ? bytes : Buffer.concat([this.#hello, bytes])
    const hello = readClientHello(this.#hello)
    if (hello === null) return
    if (hello === 'client_hello') return this.#fail(hello)
    this.#giveBack(this.#hello)
    if (hello === 'not_tls') return this.#passOn(this.#socket, null, hello)
    const { certificates, challenges, zones } = this.#plane.snapshot
    // A client may name no address (RFC 6066 section 3); one that does gets what it would get without.
    const serverName = isIP(hello.serverName ?? '') === 0 ? hello.serverName : null
    const validation = hello.isValidation ? challenges.contextFor(serverName) : null
    if (validation !== null) return this.#prove(validation)
    // A client that names no host mostly wants the address that it connects to.
    const host = serverName ?? canonicalAddress(this.#socket.localAddress ?? '') ?? ''
    const zone = zones.find(host)
    const client = zone === null ? null : zone.config.tls.client
    // A client that cannot agree on what is approved gets an error that says so, not an alert.
    const isFips = zone?.config.tls.fips === true && offersFips(hello.offer)
    const ciphers = zone === null ? anyCipher : zone.config.tls.ciphers
    const context = certificates.find(serverName, { client, isFips, ciphers })
    if (context !== null)
      return this.#shakeHands(context, hello, { serverName, host, trust: trustOf(client), isFips })
    this.#socket.end(unrecognizedName)
    this.#fail('server_name')
  }

  /** Leaves what was read to the next reader of the socket. */
  #giveBack(bytes: Buffer): void {
    this.#letGo()
    this.#socket.pause()
    this.#socket.unshift(bytes)
  }

  #shakeHands(secureContext: SecureContext, { ticket }: ClientHello, aim: Aim): void {
    this.#aim = aim
    const options = {
      isServer: true,
      secureContext,
      ALPNProtocols: this.#plane.snapshot.http2.enabled ? bothVersions : http1Only,
      highWaterMark,
      // Whatever is wrong with a certificate is answered with an error that says so, not with an alert.
      requestCert: aim.trust !== '',
      rejectUnauthorized: false,
    }
    const { ticketKeys } = this.#plane.snapshot.certificates
    this.#secure(ticketKeys.during(secureContext, ticket, () => new TLSSocket(this.#socket, options)))
  }

  /** Shows a certificate authority that the host is served here, and closes the connection (RFC 8737 section 3). */
  #prove(secureContext: SecureContext): void {
    const options = { isServer: true, secureContext, ALPNProtocols: validationOnly }
    this.#secure(new TLSSocket(this.#socket, options))
  }

  #secure(secured: TLSSocket): void {
    this.#secured = secured
    ignoreErrors(secured)
    on(secured, 'secure', this.#done)
    on(secured, 'error', this.#broke)
    on(secured, 'end', this.#left)
    on(secured, 'close', this.#left)
  }

  #finish(): void {
    const secured = this.#secured!
    if (this.#aim !== null) return this.#shaken(secured, this.#aim)
    this.#plane.metrics.tlsHandshakes.validation.inc()
    this.#end()
    secured.destroySoon()
    this.#owner.failed(this)
  }

  #shaken(secured: TLSSocket, aim: Aim): void {
    const { tlsHandshakes, clientCertificates } = this.#plane.metrics
    // A client could have any number of handshakes in a connection of TLS 1.2 (RFC 5246 section 7.4.1.1), and each costs as much as the first.
    secured.disableRenegotiation()
    cutAtViolations(secured, this.#socket, this.#plane)
    tlsHandshakes[secured.isSessionReused() ? 'resumed' : 'full'].inc()
    const certificate = aim.trust === '' ? null : certificateOf(secured)
    if (aim.trust !== '')
      clientCertificates[certificate === null ? 'missing' : (certificate.fault ?? 'accepted')].inc()
    this.#passOn(secured, {
      ...aim,
      certificate,
      version: secured.getProtocol() ?? '',
      cipher: secured.getCipher().standardName,
    })
  }

  #passOn(socket: Socket, tls: ClientTls | null, failure: TlsFailure | null = null): void {
    if (failure !== null) this.#plane.metrics.tlsFailures[failure].inc()
    // Over only then, so that a bug in that still ends the connection.
    this.#owner.shaken(this, socket, tls, this.#secured?.alpnProtocol === 'h2')
    this.#end()
  }

  #fail(failure: TlsFailure): void {
    if (this.#isOver) return
    this.#plane.metrics.tlsFailures[failure].inc()
    this.#end()
    // With an alert, its client is told why.
    if (failure === 'server_name') this.#socket.destroySoon()
    else this.#cut()
    this.#owner.failed(this)
  }

  #end(): void {
    this.#isOver = true
    this.#hello = null
    this.#letGo()
  }

  #cut(): void {
    reset(this.#secured ?? this.#socket, this.#socket)
  }

  #letGo(): void {
    const socket = this.#secured ?? this.#socket
    if (socket === this.#socket) socket.off('data', this.#received)
    else socket.off('secure', this.#done).off('error', this.#broke)
    socket.off('end', this.#left).off('close', this.#left)
  }
}

/** Adds a guarded listener. */
function on<T>(socket: Socket, event: string, listener: (what: T) => void): void {
  socket.on(event, listener)
}

/** Cuts a connection whose client breaks the protocol from now on; does not keep the handshake, as long as the connection lasts. */
function cutAtViolations(secured: TLSSocket, transport: Socket, { metrics, log }: Plane): void {
  const cut = () => {
    metrics.tlsViolations.inc()
    reset(secured, transport)
  }
  const crashed = (bug: unknown) => log.error({ err: bug }, 'cutting a TLS connection failed: internal error')
  // Of a TLSSocket that no server of Node made, this event alone reports it, and leaves the connection open.
  secured.on('_tlsError', guarded(cut, crashed))
}

/** Returns the certificate of a client with what OpenSSL found of it; null where it showed none. */
function certificateOf(secured: TLSSocket): ClientCertificate | null {
  const certificate = secured.getPeerX509Certificate()
  if (certificate === undefined) return null
  // Only sockets that a server of Node made have `authorizationError`.
  const { ssl } = secured as unknown as { ssl: { verifyError(): NodeJS.ErrnoException | null | undefined } }
  return new ClientCertificate(certificate, ssl.verifyError()?.code ?? null)
}

/** Names why OpenSSL gave up. */
function failureOf({ code = '' }: NodeJS.ErrnoException): TlsFailure {
  if (code.includes('_ALERT_')) return 'client_alert'
  if (/^(ECONNRESET|EPIPE)$/.test(code)) return 'closed'
  return byCode[code] ?? 'other'
}

const byCode: Readonly<Record<string, TlsFailure>> = {
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'version',
  ERR_SSL_VERSION_TOO_LOW: 'version',
  ERR_SSL_WRONG_VERSION_NUMBER: 'version',
  ERR_SSL_NO_SHARED_CIPHER: 'cipher',
  ERR_SSL_NO_SUITABLE_KEY_SHARE: 'cipher',
  ERR_SSL_NO_SUITABLE_SIGNATURE_ALGORITHM: 'cipher',
  ERR_SSL_NO_APPLICATION_PROTOCOL: 'protocol',
}
