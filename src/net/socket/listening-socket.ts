// Listening sockets as processes pass them to each other: the queue of a port lives as long as any of them
// has its socket, so a process that ends loses no connecting client.

import { type Server, Socket } from 'node:net'

/**
 * What Node passes between processes: a bound socket, which accepts only in a process where a server listens
 * on it.
 */
export interface SocketHandle {
  readonly fd: number
  /** Closes the socket in this process only. */
  close(): void
}

/** One of the sockets that share the address of a listener. */
export interface ListeningSocket {
  /** The position of its listener in the configuration. */
  readonly listener: number
  /** Its number among the sockets of the listener. */
  readonly slot: number
  /** Whether no other socket can share its address, because something else has bound it. */
  readonly isAlone: boolean
  readonly handle: SocketHandle
}

/**
 * How many connections may wait to be accepted; the system allows fewer if its own limit is lower. Passed for
 * each socket that we listen on: Node would shorten the queue of one that is already bound.
 */
export const backlog = 4096

/** Returns the socket of a listening server. */
export function handleOf(server: Server): SocketHandle {
  return (server as unknown as { readonly _handle: SocketHandle })._handle
}

/**
 * Returns the TCP socket that this process was started with as a file descriptor; throws if it is not one.
 */
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
