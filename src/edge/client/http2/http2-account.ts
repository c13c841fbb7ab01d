// What a connection over HTTP/2 has its client account for: the requests that are under way at its address, and what it spends that means nothing.

import type { ServerSession } from '../../../http2/server/session.ts'
import type { SessionFault } from '../../../http2/server/session-user.ts'
import type { Plane } from '../../snapshot/plane.ts'
import type { Http2Address, Http2Addresses } from './http2-address.ts'
import type { Offenders } from './http2-offenders.ts'
import type { Http2Turns } from './http2-turns.ts'

/** What all connections over HTTP/2 share. */
export interface Http2Peers {
  readonly offenders: Offenders
  readonly turns: Http2Turns
  readonly addresses: Http2Addresses
}

interface AccountedConnection {
  readonly peer: string
  readonly session: ServerSession<unknown>
}

/** Responses that a connection may leave untaken without being indebted: people pause a film. */
const trifle = 4

export class Http2Account {
  address: Http2Address
  readonly #connection: AccountedConnection
  readonly #plane: Plane
  readonly #offenders: Offenders
  readonly #turns: Http2Turns
  readonly #addresses: Http2Addresses
  /** The snapshot by which the address is that of a client, or of a proxy. */
  #joinedBy: Plane['snapshot']
  #isClosed = false
  /** What the address has of the connection: requests that wait, those that wait for the client, and bytes of responses. */
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

  /** Whether the client leaves so many responses of the connection untaken that it has to keep the pace of its address. */
  get isIndebted(): boolean {
    return this.#connection.session.stalledCount > trifle
  }

  /** Whether the connection has part in it where more responses wait for its address than may. */
  get isOverdrawn(): boolean {
    return this.address.overdraws(this.#held)
  }

  /** Has the requests of the connection count as those of its address. */
  count(): void {
    const { waitingCount, stalledCount } = this.#connection.session
    this.address.waitingRequests += waitingCount - this.#waitingRequests
    this.#waitingRequests = waitingCount
    this.address.stalledRequests += stalledCount - this.#stalledRequests
    this.#stalledRequests = stalledCount
  }

  /** Has what waits for the client count as well. */
  countAll(): void {
    this.count()
    const { held } = this.#connection.session
    this.address.held += held - this.#held
    this.#held = held
  }

  /** Moves to the address that the connection has by settings that have come into effect: proxies have their own. */
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
    // It may have waited for longer than it has to now.
    if (before.hasWaiting) this.#turns.add(before)
  }

  /** Leaves the address of a connection that is closed. */
  close(): void {
    this.#isClosed = true
    this.countAll()
    this.#addresses.leave(this.address)
  }

  /** Charges the client with what the connection has spent, which others could spend as well. */
  settleUp(): void {
    const { peer, session } = this.#connection
    const { coarseNow, snapshot } = this.#plane
    const fault = this.#offenders.spending.charge(peer, session.budgets, coarseNow)
    if (fault !== null && !snapshot.trusted.has(peer)) session.exhaust(fault)
  }

  /** Remembers a client that has broken the rules. */
  offended(fault: SessionFault): void {
    const { peer } = this.#connection
    const { coarseNow, snapshot } = this.#plane
    // Many clients may come by a trusted hop, which are not to pay for each other. Whoever is slow costs nothing by connecting again.
    const penalty = fault === 'slow_head' || fault === 'settings_timeout' ? 0 : snapshot.http2.penalty
    if (!snapshot.trusted.has(peer)) this.#offenders.add(peer, coarseNow, penalty)
  }

  #join(): Http2Address {
    const { peer } = this.#connection
    return this.#addresses.join(peer, this.#joinedBy.trusted.has(peer))
  }
}
