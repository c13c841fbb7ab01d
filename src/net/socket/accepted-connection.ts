// Connections as the system hands them over, before Node makes a socket of each: one that is not to be read yet costs little more than its descriptor.

import type { Server } from 'node:net'
import { canonicalAddress } from '../address/address.ts'

/** What Node has of a connection. */
interface ConnectionHandle {
  readonly fd: number
  /** Fills in the address; returns 0, or the number of an error. */
  getpeername(address: { address?: string }): number
  /** Returns 0, or the number of an error. */
  reset(): number
  close(): void
}

type OnConnection = (status: number, connection?: ConnectionHandle) => void

/** What Node has of a listening socket. */
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

  /** The address of the client; empty for one that has left. */
  get peer(): string {
    const found: { address?: string } = {}
    return this.#handle.getpeername(found) === 0 ? (canonicalAddress(found.address ?? '') ?? '') : ''
  }

  get descriptor(): number {
    return this.#handle.fd
  }

  /** Has its server take it as any other one. */
  serve(): void {
    this.#serve.call(this.#listening, 0, this.#handle)
  }

  /** Closes it with a reset, which leaves nothing behind in the system. */
  reset(): void {
    if (this.#handle.reset() !== 0) this.#handle.close()
  }
}

/** Shows `holds` each connection of a server that listens, before Node makes a socket of it. Where that returns true, the connection is left to it. */
export function screen(server: Server, holds: (connection: AcceptedConnection) => boolean): void {
  const listening = (server as unknown as { readonly _handle: ListeningHandle })._handle
  const serve = listening.onconnection
  listening.onconnection = (status, handle) => {
    if (handle === undefined || !holds(new AcceptedConnection(handle, listening, serve)))
      serve.call(listening, status, handle)
  }
}
