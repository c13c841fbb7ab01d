// The hold of one exchange on a connection to an origin. Ownership changes here and nowhere else.

import { invariants } from '../../base/invariants.ts'
import type { Phase } from '../../errors/catalogue/phase.ts'
import type { ByteSink } from '../wire/body-writer.ts'
import type { Dial } from './dial/dial.ts'
import type { ResponseHandler, TunnelHandler } from './response-handler.ts'
import type { OutboundHead } from './outbound-head.ts'

/** The methods return false when the origin should be given time to read. */
export interface RequestSink {
  /** Whether the bytes may be overwritten once `data` returns. */
  readonly copiesData?: boolean
  data(bytes: Buffer): boolean
  flush(): boolean
  end(trailers: readonly string[] | null): void
}

export interface LeasedConnection extends ByteSink {
  readonly isReused: boolean
  readonly times: Dial['times']
  readonly address: string
  /** False when the origin should be given time to read. */
  send(head: OutboundHead, body: Buffer | null, trailers: readonly string[] | null): boolean
  begin(head: OutboundHead, lease: Lease): RequestSink
  pause(): void
  resume(): void
  endSending(): void
  pin(holder: ConnectionHolder, clientAddress: string): void
  takeBack(): void
  close(): void
}

export interface PinnedConnection {
  readonly isReused: boolean
  readonly origin: object
  /** A proxy may forward several clients on one connection. */
  readonly clientAddress: string
  /** Ms that the origin keeps it open while idle, or -1. */
  readonly grantedIdle: number
  deadline: number
  lend(handler: ResponseHandler): Lease
  close(): void
}

export interface ConnectionHolder {
  /** False if the client has left. */
  keep(connection: PinnedConnection): boolean
  remove(connection: PinnedConnection): void
}

type End = 'given back' | 'destroyed' | 'lost'

/** Use after its end, except `destroy`, is an internal error; in production it does nothing. */
export class Lease implements ByteSink {
  /** Whether it was used or idle before; its end may then only mean that it idled too long. */
  readonly isReused: boolean
  readonly times: Dial['times']
  readonly address: string
  handler: ResponseHandler
  tunnel: TunnelHandler | null = null
  phase: Phase = 'send'
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

  get isWritten(): boolean {
    return this.#connection.isWritten
  }

  send(head: OutboundHead, body: Buffer | null, trailers: readonly string[] | null): boolean {
    return !this.#mayUse('send') || this.#connection.send(head, body, trailers)
  }

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

  wait(): void {
    if (this.#mayUse('wait') && this.phase === 'send') this.phase = 'wait'
  }

  pause(): void {
    if (this.#mayUse('pause')) this.#connection.pause()
  }

  resume(): void {
    if (this.#mayUse('resume')) this.#connection.resume()
  }

  endSending(): void {
    if (this.#mayUse('endSending')) this.#connection.endSending()
  }

  /** Reserves the connection for this client, which is being authenticated on it. */
  pin(holder: ConnectionHolder, clientAddress: string): void {
    if (this.#mayUse('pin')) this.#connection.pin(holder, clientAddress)
  }

  giveBack(): void {
    if (!this.#mayUse('giveBack')) return
    this.#end = 'given back'
    this.#connection.takeBack()
  }

  /** Its handler gets no more events. */
  destroy(): void {
    if (this.#end === 'given back') return invariants.violated('destroy of a connection that was given back')
    if (this.#end !== null) return
    this.#end = 'destroyed'
    this.#connection.close()
  }

  lose(): void {
    this.#end ??= 'lost'
  }

  #mayUse(use: string): boolean {
    if (this.#end === null) return true
    invariants.violated(`${use} on a connection that was ${this.#end}`)
    return false
  }
}
