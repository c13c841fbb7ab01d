// The hold of one exchange on a connection to an origin, from when it is handed over until it is given back,
// destroyed or lost. Ownership changes here and nowhere else.

import { invariants } from '../../base/invariants.ts'
import type { Phase } from '../../errors/catalogue/phase.ts'
import type { ByteSink } from '../wire/body-writer.ts'
import type { Dial } from './dial/dial.ts'
import type { ResponseHandler, TunnelHandler } from './response-handler.ts'
import type { OutboundHead } from './outbound-head.ts'

/** Receives the body of a request piece by piece. */
export interface RequestSink {
  /** Takes body bytes; false when the origin should be given time to read. */
  data(bytes: Buffer): boolean
  /** Writes what is buffered; false when the origin should be given time to read. */
  flush(): boolean
  /** Ends the body; the trailers are names and values in turns, null for none. */
  end(trailers: readonly string[] | null): void
}

/** A connection or stream, as its lease sees it. */
export interface LeasedConnection extends ByteSink {
  readonly isReused: boolean
  readonly times: Dial['times']
  readonly address: string
  /**
   * Sends a request with its whole body, null for none; false when the origin should be given time to read.
   */
  send(head: OutboundHead, body: Buffer | null, trailers: readonly string[] | null): boolean
  /** Begins a request whose body follows. */
  begin(head: OutboundHead, lease: Lease): RequestSink
  pause(): void
  resume(): void
  endSending(): void
  pin(holder: ConnectionHolder, clientAddress: string): void
  takeBack(): void
  close(): void
}

/** A connection that belongs to one client. */
export interface PinnedConnection {
  readonly isReused: boolean
  /** The origin of the connection. */
  readonly origin: object
  /** The address of the client: a proxy may forward several clients on one connection. */
  readonly clientAddress: string
  /** Ms that the origin keeps it open while idle, or -1. */
  readonly grantedIdle: number
  /** Monotonic ms at which it should be closed. */
  deadline: number
  lend(handler: ResponseHandler): Lease
  close(): void
}

/** The client to which such connections belong. */
export interface ConnectionHolder {
  /** Takes a returned connection; false if the client has left. */
  keep(connection: PinnedConnection): boolean
  /** Removes a closed connection. */
  remove(connection: PinnedConnection): void
}

type End = 'given back' | 'destroyed' | 'lost'

/**
 * After its end, or after it was given back, any use of a lease but `destroy` is an internal error; in
 * production it does nothing.
 */
export class Lease implements ByteSink {
  /**
   * Whether the connection was used or idle before, so that its end may only mean that it was idle for too
   * long.
   */
  readonly isReused: boolean
  /** Ms of each phase of the dial. */
  readonly times: Dial['times']
  /** The address of the origin. */
  readonly address: string
  /** Handles the response. */
  handler: ResponseHandler
  /** Replaces the handler once protocols were switched. */
  tunnel: TunnelHandler | null = null
  phase: Phase = 'send'
  /** Whether any byte of the response has arrived. */
  hasResponseBegun = false
  readonly #connection: LeasedConnection
  #end: End | null = null

  constructor(connection: LeasedConnection, handler: ResponseHandler) {
    this.#connection = connection
    this.handler = handler
    this.isReused = connection.isReused
    this.times = connection.times
    this.address = connection.address
  }

  get isHeld(): boolean {
    return this.#end === null
  }

  /**
   * Sends a request with its whole body, null for none; the trailers are names and values in turns. False
   * when the origin should be given time to read.
   */
  send(head: OutboundHead, body: Buffer | null, trailers: readonly string[] | null): boolean {
    return !this.#mayUse('send') || this.#connection.send(head, body, trailers)
  }

  /** Begins a request whose body follows. */
  begin(head: OutboundHead): RequestSink {
    return this.#connection.begin(head, this)
  }

  write(data: string | Buffer): boolean {
    return !this.#mayUse('write') || this.#connection.write(data)
  }

  cork(): void {
    if (this.#mayUse('cork')) this.#connection.cork()
  }

  uncork(): void {
    if (this.#mayUse('uncork')) this.#connection.uncork()
  }

  /** Marks the request as sent. */
  wait(): void {
    if (this.#mayUse('wait') && this.phase === 'send') this.phase = 'wait'
  }

  pause(): void {
    if (this.#mayUse('pause')) this.#connection.pause()
  }

  resume(): void {
    if (this.#mayUse('resume')) this.#connection.resume()
  }

  /** Ends the sending half of a tunnel. */
  endSending(): void {
    if (this.#mayUse('endSending')) this.#connection.endSending()
  }

  /** Reserves the connection for this client from now on: it is being authenticated. */
  pin(holder: ConnectionHolder, clientAddress: string): void {
    if (this.#mayUse('pin')) this.#connection.pin(holder, clientAddress)
  }

  /** Returns the connection for the next request, or closes it if it cannot be reused. */
  giveBack(): void {
    if (!this.#mayUse('giveBack')) return
    this.#end = 'given back'
    this.#connection.takeBack()
  }

  /** Closes the connection at once; its handler gets no more events. */
  destroy(): void {
    if (this.#end === 'given back') return invariants.violated('destroy of a connection that was given back')
    if (this.#end !== null) return
    this.#end = 'destroyed'
    this.#connection.close()
  }

  /** Ends the lease of a closed connection. For the connection alone. */
  lose(): void {
    this.#end ??= 'lost'
  }

  #mayUse(use: string): boolean {
    if (this.#end === null) return true
    invariants.violated(`${use} on a connection that was ${this.#end}`)
    return false
  }
}
