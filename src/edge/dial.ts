// The opening of one connection to an origin: name lookup, TCP, TLS, each timed. Called by `origins.ts`.
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../base/clock.ts'
import type { OriginConfig, Timeouts } from '../config/schema.ts'
import type { Failure } from './origin-connection.ts'

/** Bytes that a socket may hold unsent before its sender is asked to wait: several reads, so that a busy peer is not stopped at each one. */
export const HIGH_WATER_MARK = 256 * 1024

export type DialPhase = 'resolve' | 'connect' | 'handshake'

/** Who wants the connection. */
export interface Dialer {
  readonly config: OriginConfig
  /** The TLS session of an earlier connection, which spares a handshake its costly part. */
  session: Buffer | null
  dialed(dial: Dial, socket: Socket): void
  dialFailed(dial: Dial, phase: DialPhase, failure: Failure): void
}

export class Dial {
  /** Monotonic ms at which `expire` is to be called. */
  deadline: number
  /** Ms that each phase took; -1 when it did not happen. */
  readonly times: Record<DialPhase, number> = { resolve: -1, connect: -1, handshake: -1 }
  readonly #dialer: Dialer
  readonly #timeouts: Timeouts
  readonly #clock: Clock
  readonly #socket: Socket
  #phase: DialPhase
  #phaseStarted: number

  constructor(dialer: Dialer, timeouts: Timeouts, clock: Clock) {
    this.#dialer = dialer
    this.#timeouts = timeouts
    this.#clock = clock
    this.#phase = isIP(dialer.config.host) === 0 ? 'resolve' : 'connect'
    this.#phaseStarted = clock.monotonic()
    this.deadline = this.#phaseStarted + (timeouts.connect || Number.POSITIVE_INFINITY)
    this.#socket = open(dialer)
    this.#listen()
  }

  expire(): void {
    this.#fail({ code: this.#phase === 'handshake' ? 'GH_HANDSHAKE_TIMEOUT' : 'GH_CONNECT_TIMEOUT' })
  }

  /** Gives up without telling the dialer. */
  abort(): void {
    this.#socket.removeAllListeners()
    this.#socket.on('error', () => {})
    this.#socket.destroy()
  }

  #listen(): void {
    const socket = this.#socket
    const isTls = this.#dialer.config.protocol === 'https'
    socket.once('lookup', () => this.#enter('connect'))
    socket.once('connect', () => (isTls ? this.#shakeHands() : this.#done()))
    socket.once('secureConnect', () => this.#done())
    socket.once('error', (error: Failure) => this.#fail(error))
    socket.once('close', () => this.#fail({ code: 'GH_CLOSED' }))
  }

  #enter(phase: DialPhase): void {
    const now = this.#clock.monotonic()
    this.times[this.#phase] = now - this.#phaseStarted
    this.#phase = phase
    this.#phaseStarted = now
  }

  #shakeHands(): void {
    this.#enter('handshake')
    this.deadline = this.#phaseStarted + (this.#timeouts.handshake || Number.POSITIVE_INFINITY)
    this.#socket.on('session', (session: Buffer) => {
      this.#dialer.session = session
    })
  }

  #done(): void {
    this.#enter(this.#phase)
    for (const event of ['lookup', 'connect', 'secureConnect', 'error', 'close'])
      this.#socket.removeAllListeners(event)
    this.#dialer.dialed(this, this.#socket)
  }

  #fail(failure: Failure): void {
    const phase = this.#phase
    this.#enter(phase)
    this.abort()
    this.#dialer.dialFailed(this, phase, failure)
  }
}

function open(dialer: Dialer): Socket {
  const { config, session } = dialer
  const { verify, serverName, ca } = config.tls
  const address = { host: config.host, port: config.port, noDelay: true, highWaterMark: HIGH_WATER_MARK }
  if (config.protocol === 'http') return connectTcp(address)
  const name = serverName ?? (isIP(config.host) === 0 ? config.host : null)
  return connectTls({
    ...address,
    rejectUnauthorized: verify,
    ALPNProtocols: ['http/1.1'],
    ...(name !== null && { servername: name }),
    ...(ca !== null && { ca }),
    ...(session !== null && { session }),
  })
}
