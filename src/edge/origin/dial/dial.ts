// The dial of one connection to an origin.

import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import type { Clock } from '../../../base/clock.ts'
import type { OriginConfig, Timeouts } from '../../../config/model/config.ts'
import type { AddressBook, LookupWaiter } from '../../resolver/address-book.ts'
import type { AddressGuard } from '../../resolver/address-guard.ts'
import { guarded } from '../../../base/guarded.ts'
import type { Handshakes } from './handshakes.ts'
import { readTunnelResponse, tunnelRequest } from './tunnel.ts'
import { type Cause, type Failure, failureOf, fault } from '../../../errors/catalogue/origin-failure.ts'

/** More than one read would save no time. */
export const highWaterMark = 64 * 1024

/** Ms before an unresponsive address gives way to the next, and a lookup to old addresses. */
const attemptTimeout = 500

export type DialPhase = 'resolve' | 'connect' | 'handshake'

export interface DialTarget {
  readonly config: OriginConfig
  /** Null for an IP address. */
  readonly book: AddressBook | null
  readonly guard: AddressGuard
  readonly hasDescriptor: boolean
  readonly handshakes: Handshakes
}

export interface Dialer {
  readonly target: DialTarget
  /** By ALPN names. */
  readonly protocols: readonly string[]
  dialed(dial: Dial, socket: Socket): void
  dialFailed(dial: Dial, phase: DialPhase, failure: Failure): void
  crashed(bug: unknown): void
}

export class Dial implements LookupWaiter {
  deadline: number
  /** -1 for a phase that did not happen. */
  readonly times: Record<DialPhase, number> = { resolve: -1, connect: -1, handshake: -1 }
  address = ''
  readonly #dialer: Dialer
  readonly #timeouts: Timeouts
  readonly #clock: Clock
  #phase: DialPhase = 'connect'
  #phaseStarted: number
  readonly #connectBy: number
  #addresses: readonly string[] = []
  #attempts = 0
  #failure: Failure | null = null
  #socket: Socket | null = null
  #isOver = false

  constructor(dialer: Dialer, timeouts: Timeouts, clock: Clock) {
    this.#dialer = dialer
    this.#timeouts = timeouts
    this.#clock = clock
    this.#phaseStarted = clock.monotonic()
    this.#connectBy = this.#phaseStarted + (timeouts.connect || Number.POSITIVE_INFINITY)
    this.deadline = this.#connectBy
  }

  /** The dialer is called in a later turn. */
  start(): void {
    this.#guarded(() => this.#start())()
  }

  resolved(): void {
    this.#guarded(() => this.#resolved())()
  }

  unresolved(failure: Failure): void {
    this.#guarded(() => this.#fail(failure))()
  }

  expire(): void {
    this.#guarded(() => this.#expire())()
  }

  abort(): void {
    this.#isOver = true
    this.#dialer.target.book?.cancel(this)
    this.#destroySocket()
  }

  #start(): void {
    const { book, config } = this.#dialer.target
    if (book === null) return this.#tryAll([(config.transport.proxy ?? config).host])
    const addresses = book.inTurn()
    if (addresses.length > 0) return this.#tryAll(addresses)
    this.#phase = 'resolve'
    if (book.hasOld) this.deadline = Math.min(this.#connectBy, this.#phaseStarted + attemptTimeout)
    book.lookUp(this)
  }

  #resolved(): void {
    this.#enter('connect')
    this.#tryAll(this.#dialer.target.book!.inTurn())
  }

  #expire(): void {
    if (this.#phase === 'resolve') this.#giveUpLookup()
    else if (this.#phase === 'handshake') this.#fail(fault('GH_HANDSHAKE_TIMEOUT'))
    else if (this.#phase === 'connect' && this.deadline < this.#connectBy)
      this.#giveUpAddress(fault('GH_CONNECT_TIMEOUT'))
    else this.#fail(fault('GH_CONNECT_TIMEOUT'))
  }

  #giveUpLookup(): void {
    const { book } = this.#dialer.target
    book!.cancel(this)
    const old = book!.oldInTurn()
    if (old.length === 0) return this.#fail(fault('GH_CONNECT_TIMEOUT'))
    this.#enter('connect')
    this.#tryAll(old)
  }

  #tryAll(addresses: readonly string[]): void {
    this.#addresses = addresses
    this.#tryNext()
  }

  #tryNext(): void {
    const address = this.#addresses[this.#attempts++]
    if (address === undefined) return process.nextTick(this.#guarded(() => this.#fail(this.#failure!)))
    const obstacle = this.#obstacleTo(address)
    if (obstacle !== null) {
      this.#keepFailure(obstacle)
      return this.#tryNext()
    }
    this.address = address
    const isLast = this.#attempts === this.#addresses.length
    this.deadline = isLast
      ? this.#connectBy
      : Math.min(this.#connectBy, this.#clock.monotonic() + attemptTimeout)
    this.#socket = open(this.#dialer, address)
    this.#listen(this.#socket)
  }

  #obstacleTo(address: string): Failure | null {
    const { guard, config, hasDescriptor } = this.#dialer.target
    const faultOfAddress = guard.faultOf(address, config)
    if (faultOfAddress !== null) return fault(faultOfAddress)
    return hasDescriptor ? null : shortage
  }

  #listen(socket: Socket): void {
    const { protocol, transport } = this.#dialer.target.config
    if (transport.proxy !== null) {
      const event = transport.proxy.protocol === 'https' ? 'secureConnect' : 'connect'
      this.#once(socket, event, () => this.#tunnel(socket))
    } else {
      const isTls = protocol === 'https'
      this.#once(socket, 'connect', () => (isTls ? this.#shakeHands(socket) : this.#finish(socket)))
      this.#once(socket, 'secureConnect', () => this.#finish(socket))
    }
    this.#listenForEnd(socket)
  }

  #listenForEnd(socket: Socket): void {
    this.#once(socket, 'error', (error: Cause) => this.#onFailure(this.#failureOf(error)))
    this.#once(socket, 'close', () => this.#onFailure(fault('GH_CLOSED')))
  }

  /** A TLS failure in this phase comes from the proxy. */
  #failureOf(error: Cause): Failure {
    const failure = failureOf(error)
    const mayBeProxy =
      this.#phase === 'connect' && this.#dialer.target.config.transport.proxy?.protocol === 'https'
    const isSpecific = failure.row.errors.connect !== undefined || failure.way === 'no_descriptor'
    return mayBeProxy && !isSpecific ? { ...fault('GH_BAD_PROXY'), cause: error } : failure
  }

  #tunnel(socket: Socket): void {
    this.deadline = this.#connectBy
    socket.write(tunnelRequest(this.#dialer.target.config))
    let response: Buffer = Buffer.alloc(0)
    const read = () => {
      response = Buffer.concat([response, (socket.read() as Buffer | null) ?? response.subarray(0, 0)])
      const failure = readTunnelResponse(response)
      if (failure === undefined) return
      socket.removeAllListeners('readable')
      if (failure !== null) this.#fail(failure)
      else this.#enterTunnel(socket)
    }
    socket.on('readable', this.#guarded(read))
  }

  #enterTunnel(socket: Socket): void {
    if (this.#dialer.target.config.protocol === 'http') return this.#finish(socket)
    for (const event of ['error', 'close']) socket.removeAllListeners(event)
    socket.on('error', () => {})
    const secured = connectTls({ socket, ...tlsOptionsOf(this.#dialer) })
    this.#socket = secured
    this.#listenForEnd(secured)
    this.#once(secured, 'secureConnect', () => this.#finish(secured))
    this.#shakeHands(secured)
  }

  #once<T = void>(socket: Socket, event: string, handle: (what: T) => void): void {
    socket.once(event, this.#guarded(handle))
  }

  #guarded<T = void>(handle: (event: T) => void): (event: T) => void {
    return guarded(handle, bug => this.#crashed(bug))
  }

  #crashed(bug: unknown): void {
    this.#dialer.crashed(bug)
    if (this.#isOver) return void this.#socket?.destroy()
    this.abort()
    const fail = () => this.#dialer.dialFailed(this, 'connect', failureOf(bug))
    process.nextTick(guarded(fail, worse => this.#dialer.crashed(worse)))
  }

  #enter(phase: DialPhase): void {
    const now = this.#clock.monotonic()
    this.times[this.#phase] = now - this.#phaseStarted
    this.#phase = phase
    this.#phaseStarted = now
  }

  #shakeHands(socket: Socket): void {
    this.#enter('handshake')
    this.deadline = this.#phaseStarted + (this.#timeouts.handshake || Number.POSITIVE_INFINITY)
    const keep = (session: Buffer) => {
      this.#dialer.target.handshakes.session = session
    }
    socket.on('session', this.#guarded(keep))
  }

  #finish(socket: Socket): void {
    this.#isOver = true
    this.#enter(this.#phase)
    for (const event of ['connect', 'secureConnect', 'error', 'close']) socket.removeAllListeners(event)
    this.#dialer.dialed(this, socket)
  }

  #onFailure(failure: Failure): void {
    if (this.#phase === 'connect') this.#giveUpAddress(failure)
    else this.#fail(failure)
  }

  #giveUpAddress(failure: Failure): void {
    this.#destroySocket()
    this.#dialer.target.book?.noteFailure(this.address)
    this.#keepFailure(failure)
    this.#tryNext()
  }

  /** The least telling failure is a family without a route. */
  #keepFailure(failure: Failure): void {
    if (this.#failure === null || this.#failure.row.isWithoutRoute) this.#failure = failure
  }

  #fail(failure: Failure): void {
    if (this.#isOver) return
    const phase = this.#phase
    this.#enter(phase)
    this.abort()
    this.#dialer.dialFailed(this, phase, failure)
  }

  #destroySocket(): void {
    const socket = this.#socket
    if (socket === null) return
    socket.removeAllListeners()
    socket.on('error', () => {})
    socket.destroy()
  }
}

const shortage = failureOf({ code: 'EMFILE' })

function open(dialer: Dialer, host: string): Socket {
  const { protocol, port, transport } = dialer.target.config
  const { proxy } = transport
  const address = { host, port: proxy?.port ?? port, noDelay: true, highWaterMark: highWaterMark }
  if ((proxy?.protocol ?? protocol) === 'http') return connectTcp(address)
  if (proxy === null) return connectTls({ ...address, ...tlsOptionsOf(dialer) })
  return connectTls({
    ...address,
    ...(isIP(proxy.host) === 0 && { servername: proxy.host }),
    ...(proxy.ca !== null && { ca: proxy.ca }),
  })
}

function tlsOptionsOf({ target, protocols }: Dialer): ConnectionOptions {
  const { config, handshakes } = target
  const { session } = handshakes
  const { verify, serverName, ca, identity } = config.tls
  const name = serverName ?? (isIP(config.host) === 0 ? config.host : null)
  return {
    rejectUnauthorized: verify,
    ALPNProtocols: [...protocols],
    ...(name !== null && { servername: name }),
    ...(ca !== null && { ca }),
    ...(identity !== null && { cert: identity.certificate, key: identity.key }),
    ...(session !== null && { session }),
  }
}
