// Listening sockets as processes pass them to each other, so that a process that ends loses no connecting
// client.

import { type Server, Socket } from 'node:net'

/** A bound socket, which accepts only in a process where a server listens on it. */
export interface SocketHandle {
  readonly fd: number
  /** Closes the socket in this process only. */
  close(): void
}

export interface ListeningSocket {
  readonly listener: number
  readonly slot: number
  /** Whether something else has bound its address, so that no other socket can share it. */
  readonly isAlone: boolean
  readonly handle: SocketHandle
}

/** Passed for each socket: Node would shorten the queue of a bound one. */
export const backlog = 4096

export function handleOf(server: Server): SocketHandle {
  return (server as unknown as { readonly _handle: SocketHandle })._handle
}

/** Returns the TCP socket that this process was started with as a descriptor; throws if it is not one. */
export function inheritedHandle(fd: number): {
  readonly handle: SocketHandle
  readonly host: string
  readonly port: number
} {
  const socket = new Socket({ fd, readable: false, writable: false })
  const { address: host, port } = socket.address() as { address?: string; port?: number }
  if (host === undefined || port === undefined) throw new TypeError('not a TCP socket')
  return { handle: handleOf(socket as unknown as Server), host, port }
}
