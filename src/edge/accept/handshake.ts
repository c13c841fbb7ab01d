// The TLS handshake of a client.

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

/** The fatal alert unrecognized_name (RFC 6066 section 3). */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112])

type Terms = Pick<ClientTls, 'serverName' | 'host' | 'trust' | 'isFips'>

const anyCipher: readonly string[] = []
/** Names with their lengths (RFC 7301 section 3.1). */
const bothVersions = Buffer.from('\x02h2\x08http/1.1', 'latin1')
const http1Only = Buffer.from('\x08http/1.1', 'latin1')
const validationOnly = Buffer.from('\x0aacme-tls/1', 'latin1')

/** Ms for the first request once the gateway stops. */
export const drainTimeout = 1_000

interface HandshakeOwner {
  /** `tls` is null for a client that does not speak TLS. */
  completed(handshake: Handshake, socket: Socket, tls: ClientTls | null, isHttp2: boolean): void
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
  #deadline: number
  #hello: Buffer | null = null
  #secured: TLSSocket | null = null
  /** Null for a certificate authority that only validates the host. */
  #terms: Terms | null = null
  #isOver = false
  readonly #crashed = (bug: unknown): void => {
    this.#plane.log.error({ err: bug }, 'TLS handshake failed: internal error')
    this.#fail('other')
  }
  readonly #received = guarded<Buffer>(bytes => this.#receive(bytes), this.#crashed)
  readonly #left = guarded(() => this.#fail('closed'), this.#crashed)
  readonly #done = guarded(() => this.#finish(), this.#crashed)
  readonly #broke = guarded<NodeJS.ErrnoException>(error => this.#fail(failureOf(error)), this.#crashed)

  /** `proxied` is set if a load balancer announced the client. */
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

  get hasSentHello(): boolean {
    return this.#secured !== null
  }

  sweep(now: number): void {
    if (now >= this.#deadline) this.#fail('timeout')
  }

  drain(): void {
    this.#deadline = Math.min(this.#deadline, this.#plane.coarseNow + drainTimeout)
  }

  goAway(): void {}

  destroy(): void {
    this.#end()
    this.#cut()
  }

  #receive(bytes: Buffer): void {
    this.#hello = this.#hello === null ? bytes : Buffer.concat([this.#hello, bytes])
    const hello = readClientHello(this.#hello)
    if (hello === null) return
    if (hello === 'client_hello') return this.#fail(hello)
    this.#unread(this.#hello)
    if (hello === 'not_tls') return this.#passOn(this.#socket, null, hello)
    const { certificates, challenges, zones } = this.#plane.snapshot
    // A client must not name an address (RFC 6066 section 3); an address is treated like no name.
    const serverName = isIP(hello.serverName ?? '') === 0 ? hello.serverName : null
    const validation = hello.isValidation ? challenges.contextFor(serverName) : null
    if (validation !== null) return this.#proveHost(validation)
    // A client without a name most likely wants the address that it connects to.
    const host = serverName ?? canonicalAddress(this.#socket.localAddress ?? '') ?? ''
    const zone = zones.find(host)
    const client = zone === null ? null : zone.config.tls.client
    // Clients that offer nothing approved get an HTTP error that explains it, not an alert.
    const isFips = zone?.config.tls.fips === true && offersFips(hello.offer)
    const ciphers = zone === null ? anyCipher : zone.config.tls.ciphers
    const context = certificates.find(serverName, { client, isFips, ciphers })
    if (context !== null)
      return this.#shakeHands(context, hello, { serverName, host, trust: trustOf(client), isFips })
    this.#socket.end(unrecognizedName)
    this.#fail('server_name')
  }

  #unread(bytes: Buffer): void {
    this.#removeListeners()
    this.#socket.pause()
    this.#socket.unshift(bytes)
  }

  #shakeHands(secureContext: SecureContext, { ticket }: ClientHello, terms: Terms): void {
    this.#terms = terms
    const options = {
      isServer: true,
      secureContext,
      ALPNProtocols: this.#plane.snapshot.http2.enabled ? bothVersions : http1Only,
      highWaterMark,
      // Faults of certificates lead to an HTTP error that explains them, not to an alert.
      requestCert: terms.trust !== '',
      rejectUnauthorized: false,
    }
    const { ticketKeys } = this.#plane.snapshot.certificates
    this.#secure(ticketKeys.during(secureContext, ticket, () => new TLSSocket(this.#socket, options)))
  }

  /** Proves to a certificate authority that the host is served here (RFC 8737 section 3). */
  #proveHost(secureContext: SecureContext): void {
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
    if (this.#terms !== null) return this.#completed(secured, this.#terms)
    this.#plane.metrics.tlsHandshakes.validation.inc()
    this.#end()
    secured.destroySoon()
    this.#owner.failed(this)
  }

  #completed(secured: TLSSocket, terms: Terms): void {
    const { tlsHandshakes, clientCertificates } = this.#plane.metrics
    // TLS 1.2 allows any number of handshakes (RFC 5246 section 7.4.1.1), each as costly as the first.
    secured.disableRenegotiation()
    cutAtViolations(secured, this.#socket, this.#plane)
    tlsHandshakes[secured.isSessionReused() ? 'resumed' : 'full'].inc()
    const certificate = terms.trust === '' ? null : certificateOf(secured)
    if (terms.trust !== '')
      clientCertificates[certificate === null ? 'missing' : (certificate.fault ?? 'accepted')].inc()
    this.#passOn(secured, {
      ...terms,
      certificate,
      version: secured.getProtocol() ?? '',
      cipher: secured.getCipher().standardName,
    })
  }

  #passOn(socket: Socket, tls: ClientTls | null, failure: TlsFailure | null = null): void {
    if (failure !== null) this.#plane.metrics.tlsFailures[failure].inc()
    // Ended only now, so that a bug in the owner still ends the connection.
    this.#owner.completed(this, socket, tls, this.#secured?.alpnProtocol === 'h2')
    this.#end()
  }

  #fail(failure: TlsFailure): void {
    if (this.#isOver) return
    this.#plane.metrics.tlsFailures[failure].inc()
    this.#end()
    // The alert must be sent.
    if (failure === 'server_name') this.#socket.destroySoon()
    else this.#cut()
    this.#owner.failed(this)
  }

  #end(): void {
    this.#isOver = true
    this.#hello = null
    this.#removeListeners()
  }

  #cut(): void {
    reset(this.#secured ?? this.#socket, this.#socket)
  }

  #removeListeners(): void {
    const socket = this.#secured ?? this.#socket
    if (socket === this.#socket) socket.off('data', this.#received)
    else socket.off('secure', this.#done).off('error', this.#broke)
    socket.off('end', this.#left).off('close', this.#left)
  }
}

function on<T>(socket: Socket, event: string, listener: (what: T) => void): void {
  socket.on(event, listener)
}

/** A function of its own, so that the listener does not keep the handshake in memory. */
function cutAtViolations(secured: TLSSocket, transport: Socket, { metrics, log }: Plane): void {
  const cut = () => {
    metrics.tlsViolations.inc()
    reset(secured, transport)
  }
  const crashed = (bug: unknown) => log.error({ err: bug }, 'cutting a TLS connection failed: internal error')
  // The only event for it, since no server of Node made this TLSSocket; it leaves the connection open.
  secured.on('_tlsError', guarded(cut, crashed))
}

function certificateOf(secured: TLSSocket): ClientCertificate | null {
  const certificate = secured.getPeerX509Certificate()
  if (certificate === undefined) return null
  // Only sockets that a server of Node made have `authorizationError`.
  const { ssl } = secured as unknown as { ssl: { verifyError(): NodeJS.ErrnoException | null | undefined } }
  return new ClientCertificate(certificate, ssl.verifyError()?.code ?? null)
}

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
