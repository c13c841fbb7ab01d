// The account of one HTTP/2 connection with its address: the requests in progress, the responses left unread,
// and the budgets for frames that carry nothing.

import type { ServerSession } from '../../../http2/server/session.ts'
import type { SessionFault } from '../../../http2/server/session-user.ts'
import type { Plane } from '../../snapshot/plane.ts'
import type { Http2Address, Http2Addresses } from './http2-address.ts'
import type { Offenders } from './http2-offenders.ts'
import type { Http2Turns } from './http2-turns.ts'

/** What all HTTP/2 connections share. */
export interface Http2Peers {
  readonly offenders: Offenders
  readonly turns: Http2Turns
  readonly addresses: Http2Addresses
}

interface AccountedConnection {
  readonly peer: string
  readonly session: ServerSession<unknown>
}

/** Responses that a connection may leave unread without being indebted: people pause a film. */
const trifle = 4

export class Http2Account {
  address: Http2Address
  readonly #connection: AccountedConnection
  readonly #plane: Plane
  readonly #offenders: Offenders
  readonly #turns: Http2Turns
  readonly #addresses: Http2Addresses
  /** The snapshot by which the address was trusted as a proxy or not. */
  #joinedBy: Plane['snapshot']
  #isClosed = false
  /** What the connection contributed to the counts of its address. */
  #waitingRequests = 0
  #stalledRequests = 0
  #held = 0

  constructor(connection: AccountedConnection, plane: Plane, { offenders, turns, addresses }: Http2Peers) {
    this.#connection = connection
    this.#plane = plane
    this.#offenders = offenders
    this.#turns = turns
    this.#addresses = addresses
    this.#joinedBy = plane.snapshot
    this.address = this.#join()
  }

  /**
   * Whether the client leaves so many responses unread that the connection must keep to the pace of its
   * address.
   */
  get isIndebted(): boolean {
    return this.#connection.session.stalledCount > trifle
  }

  /**
   * Whether the address has too many bytes waiting, and more than its share of them are from this connection.
   */
  get isOverdrawn(): boolean {
    return this.address.overdraws(this.#held)
  }

  /** Updates the number of requests in the counts of the address. */
  count(): void {
    const { waitingCount, stalledCount } = this.#connection.session
    this.address.waitingRequests += waitingCount - this.#waitingRequests
    this.#waitingRequests = waitingCount
    this.address.stalledRequests += stalledCount - this.#stalledRequests
    this.#stalledRequests = stalledCount
  }

  /** Updates the bytes that wait for the client as well. */
  countAll(): void {
    this.count()
    const { held } = this.#connection.session
    this.address.held += held - this.#held
    this.#held = held
  }

  /** Joins its address again after a reload: a proxy has one of its own. */
  joinAgain(): void {
    const { snapshot } = this.#plane
    if (snapshot === this.#joinedBy) return
    this.#joinedBy = snapshot
    if (this.#isClosed) return
    const before = this.address
    this.address = this.#join()
    before.waitingRequests -= this.#waitingRequests
    before.stalledRequests -= this.#stalledRequests
    before.held -= this.#held
    this.#waitingRequests = this.#stalledRequests = this.#held = 0
    this.countAll()
    this.#addresses.leave(before)
    // Its delay may have become shorter.
    if (before.hasWaiting) this.#turns.add(before)
  }

  /** Leaves the address as the connection closes. */
  close(): void {
    this.#isClosed = true
    this.countAll()
    this.#addresses.leave(this.address)
  }

  /** Charges the budgets of the client's address with what the connection has spent. */
  settleUp(): void {
    const { peer, session } = this.#connection
    const { coarseNow, snapshot } = this.#plane
    const fault = this.#offenders.spending.charge(peer, session.budgets, coarseNow)
    if (fault !== null && !snapshot.trusted.has(peer)) session.exhaust(fault)
  }

  /** Remembers a client that broke the protocol or met a limit. */
  offended(fault: SessionFault): void {
    const { peer } = this.#connection
    const { coarseNow, snapshot } = this.#plane
    // Clients of a trusted hop must not pay for each other. Slow clients gain nothing by reconnecting.
    const penalty = fault === 'slow_head' || fault === 'settings_timeout' ? 0 : snapshot.http2.penalty
    if (!snapshot.trusted.has(peer)) this.#offenders.add(peer, coarseNow, penalty)
  }

  #join(): Http2Address {
    const { peer } = this.#connection
    return this.#addresses.join(peer, this.#joinedBy.trusted.has(peer))
  }
}
