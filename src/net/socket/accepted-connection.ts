// Connections before Node makes sockets of them: they cost little more than their descriptors.

import type { Server } from 'node:net'
import { canonicalAddress } from '../address/address.ts'

interface ConnectionHandle {
  readonly fd: number
  /** Returns 0, or the number of an error. */
  getpeername(address: { address?: string }): number
  reset(): number
  close(): void
}

type OnConnection = (status: number, connection?: ConnectionHandle) => void

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

  /** Empty if the client has left. */
  get peer(): string {
    const peer: { address?: string } = {}
    return this.#handle.getpeername(peer) === 0 ? (canonicalAddress(peer.address ?? '') ?? '') : ''
  }

  get descriptor(): number {
    return this.#handle.fd
  }

  serve(): void {
    this.#serve.call(this.#listening, 0, this.#handle)
  }

  reset(): void {
    if (this.#handle.reset() !== 0) this.#handle.close()
  }
}

/** Calls `holds` with each accepted connection; if it returns true, the callee owns it. */
export function screen(server: Server, holds: (connection: AcceptedConnection) => boolean): void {
  const listening = (server as unknown as { readonly _handle: ListeningHandle })._handle
  const serve = listening.onconnection
  listening.onconnection = (status, handle) => {
    if (handle === undefined || !holds(new AcceptedConnection(handle, listening, serve)))
      serve.call(listening, status, handle)
  }
}
