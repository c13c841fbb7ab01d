// Listening sockets that processes pass to each other, so that no connecting client is lost.

import { type Server, Socket } from 'node:net'

/** Accepts only in a process where a server listens on it. */
export interface SocketHandle {
  readonly fd: number
  /** In this process only. */
  close(): void
}

export interface ListeningSocket {
  readonly listener: number
  readonly slot: number
  /** Something else has bound its address, so that no other socket can share it. */
  readonly isAlone: boolean
  readonly handle: SocketHandle
}

/** Passed for each socket: Node would shorten the queue of a bound one. */
export const backlog = 4096

export function handleOf(server: Server): SocketHandle {
  return (server as unknown as { readonly _handle: SocketHandle })._handle
}

/** Throws if the descriptor is not a TCP socket. */
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
