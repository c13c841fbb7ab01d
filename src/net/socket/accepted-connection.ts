// Connections as the system hands them over, before Node makes sockets of them: a connection that is not read
// yet costs little more than its descriptor.

import type { Server } from 'node:net'
import { canonicalAddress } from '../address/address.ts'

/** Node's handle of a connection. */
interface ConnectionHandle {
  readonly fd: number
  /** Fills in the address; returns 0, or the number of an error. */
  getpeername(address: { address?: string }): number
  /** Returns 0, or the number of an error. */
  reset(): number
  close(): void
}

type OnConnection = (status: number, connection?: ConnectionHandle) => void

/** Node's handle of a listening socket. */
interface ListeningHandle {
  onconnection: OnConnection
}

export class AcceptedConnection {
  readonly #handle: ConnectionHandle
  readonly #listening: ListeningHandle
  readonly #serve: OnConnection

  constructor(handle: ConnectionHandle, listening: ListeningHandle, serve: OnConnection) {
    this.#handle = handle
    this.#listening = listening
    this.#serve = serve
  }

  /** The address of the client; empty if it has left. */
  get peer(): string {
    const peer: { address?: string } = {}
    return this.#handle.getpeername(peer) === 0 ? (canonicalAddress(peer.address ?? '') ?? '') : ''
  }

  get descriptor(): number {
    return this.#handle.fd
  }

  /** Passes it to its server, as if it had just been accepted. */
  serve(): void {
    this.#serve.call(this.#listening, 0, this.#handle)
  }

  /** Closes it with a reset, which leaves nothing behind in the system. */
  reset(): void {
    if (this.#handle.reset() !== 0) this.#handle.close()
  }
}

/**
 * Calls `holds` with each connection that a listening server accepts, before Node makes a socket of it. If it
 * returns true, the callee owns the connection.
 */
export function screen(server: Server, holds: (connection: AcceptedConnection) => boolean): void {
  const listening = (server as unknown as { readonly _handle: ListeningHandle })._handle
  const serve = listening.onconnection
  listening.onconnection = (status, handle) => {
    if (handle === undefined || !holds(new AcceptedConnection(handle, listening, serve)))
      serve.call(listening, status, handle)
  }
}
