// The account of one HTTP/2 connection with its address.

import type { ServerSession } from '../../../http2/server/session.ts'
import type { SessionFault } from '../../../http2/server/session-user.ts'
import type { Plane } from '../../snapshot/plane.ts'
import type { Http2Address, Http2Addresses } from './http2-address.ts'
import type { Offenders } from './http2-offenders.ts'
import type { Http2Turns } from './http2-turns.ts'

export interface Http2Shared {
  readonly offenders: Offenders
  readonly turns: Http2Turns
  readonly addresses: Http2Addresses
}

interface AccountedConnection {
  readonly peer: string
  readonly session: ServerSession<unknown>
}

/** Unread responses without debt: people pause a film. */
const maxUnread = 4

export class Http2Account {
  address: Http2Address
  readonly #connection: AccountedConnection
  readonly #plane: Plane
  readonly #offenders: Offenders
  readonly #turns: Http2Turns
  readonly #addresses: Http2Addresses
  #snapshot: Plane['snapshot']
  #isClosed = false
  #waitingRequests = 0
  #stalledRequests = 0
  #heldBytes = 0

  constructor(connection: AccountedConnection, plane: Plane, { offenders, turns, addresses }: Http2Shared) {
    this.#connection = connection
    this.#plane = plane
    this.#offenders = offenders
    this.#turns = turns
    this.#addresses = addresses
    this.#snapshot = plane.snapshot
    this.address = this.#join()
  }

  get isIndebted(): boolean {
    return this.#connection.session.stalledCount > maxUnread
  }

  /** Whether the address has too many bytes waiting, and this connection more than its share. */
  get isOverdrawn(): boolean {
    return this.address.overdraws(this.#heldBytes)
  }

  count(): void {
    const { waitingCount, stalledCount } = this.#connection.session
    this.address.waitingRequests += waitingCount - this.#waitingRequests
    this.#waitingRequests = waitingCount
    this.address.stalledRequests += stalledCount - this.#stalledRequests
    this.#stalledRequests = stalledCount
  }

  countAll(): void {
    this.count()
    const { held } = this.#connection.session
    this.address.heldBytes += held - this.#heldBytes
    this.#heldBytes = held
  }

  /** Joins its address again after a reload: a proxy has one of its own. */
  rejoin(): void {
    const { snapshot } = this.#plane
    if (snapshot === this.#snapshot) return
    this.#snapshot = snapshot
    if (this.#isClosed) return
    const former = this.address
    this.address = this.#join()
    former.waitingRequests -= this.#waitingRequests
    former.stalledRequests -= this.#stalledRequests
    former.heldBytes -= this.#heldBytes
    this.#waitingRequests = this.#stalledRequests = this.#heldBytes = 0
    this.countAll()
    this.#addresses.leave(former)
    // Its delay may have become shorter.
    if (former.hasWaiting) this.#turns.add(former)
  }

  close(): void {
    this.#isClosed = true
    this.countAll()
    this.#addresses.leave(this.address)
  }

  chargeAddress(): void {
    const { peer, session } = this.#connection
    const { coarseNow, snapshot } = this.#plane
    const fault = this.#offenders.spending.charge(peer, session.budgets, coarseNow)
    if (fault !== null && !snapshot.trusted.has(peer)) session.exhaust(fault)
  }

  noteOffence(fault: SessionFault): void {
    const { peer } = this.#connection
    const { coarseNow, snapshot } = this.#plane
    // Clients of a trusted hop must not pay for each other. Slow clients gain nothing by reconnecting.
    const penalty = fault === 'slow_head' || fault === 'settings_timeout' ? 0 : snapshot.http2.penalty
    if (!snapshot.trusted.has(peer)) this.#offenders.add(peer, coarseNow, penalty)
  }

  #join(): Http2Address {
    const { peer } = this.#connection
    return this.#addresses.join(peer, this.#snapshot.trusted.has(peer))
  }
}
