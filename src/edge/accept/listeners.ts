// The listening sockets, bound all or none, and closed without resetting clients that are connecting.

import {
  type AddressInfo,
  createServer,
  type ListenOptions as Address,
  type Server,
  type Socket,
} from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { type AcceptedConnection, screen } from '../../net/socket/accepted-connection.ts'
import {
  backlog,
  handleOf,
  type ListeningSocket,
  type SocketHandle,
} from '../../net/socket/listening-socket.ts'
import type { Listener } from '../../config/model/config.ts'
import { highWaterMark } from '../origin/dial/dial.ts'

/** Ms of a turn that has hardly received a connection, and of accepting the backlog, one per turn. */
const shortTurn = 0.05
const maxClosing = 2_000

export interface ListenOptions {
  readonly reusePort: boolean
  /** 0 by default. */
  readonly slot?: number
  /** A listener without any binds its own. */
  readonly sockets?: readonly ListeningSocket[]
}

interface ListenersOwner {
  /** Must not throw. */
  hold(connection: AcceptedConnection): boolean
  accept(socket: Socket, listener: Listener): void
  acceptFailed(error: Error): void
}

export class Listeners {
  readonly #owner: ListenersOwner
  readonly #servers = new Map<string, Server>()
  readonly #sockets = new Map<string, ListeningSocket>()
  #accepted = 0

  constructor(owner: ListenersOwner) {
    this.#owner = owner
  }

  /** Returns the listeners with their real ports; binds none if one fails. */
  async bind(listeners: readonly Listener[], options: ListenOptions): Promise<readonly Listener[]> {
    const bound: Listener[] = []
    try {
      for (const [at, listener] of listeners.entries()) bound.push(await this.#listen(listener, at, options))
    } catch (error) {
      this.close()
      throw error
    }
    return bound
  }

  get sockets(): readonly ListeningSocket[] {
    return [...this.#sockets.values()]
  }

  async adopt(listener: Listener, socket: ListeningSocket): Promise<void> {
    const { server, listening } = this.#serve(listener, socket.handle)
    this.#keep(server, socket)
    await listening
  }

  release({ listener, slot }: Omit<ListeningSocket, 'handle' | 'isAlone'>): void {
    const key = `${listener} ${slot}`
    this.#servers.get(key)?.close()
    this.#servers.delete(key)
    this.#sockets.delete(key)
  }

  /** The system resets the connections in the backlog. */
  close(): void {
    for (const server of this.#servers.values()) server.close()
  }

  /** Stops after a turn too short for a further connection to have arrived. */
  async closeWhenQuiet(): Promise<void> {
    const end = performance.now() + maxClosing
    for (let turns = 0; turns <= backlog && performance.now() < end; turns++) {
      const accepted = this.#accepted
      const start = performance.now()
      await turn()
      if (turns > 0 && accepted === this.#accepted && performance.now() - start < shortTurn) break
    }
    this.close()
  }

  /** Listens on the given sockets, else on its own; returns the listener with its real port. */
  async #listen(
    listener: Listener,
    at: number,
    { reusePort, slot = 0, sockets = [] }: ListenOptions,
  ): Promise<Listener> {
    const existing = sockets.filter(socket => socket.listener === at)
    for (const socket of existing) await this.adopt(listener, socket)
    if (existing.length > 0)
      return { ...listener, port: portOf(this.#servers.get(`${at} ${existing[0]!.slot}`)!) }
    const { host, port } = listener
    const { server, listening } = this.#serve(listener, { host, port, reusePort, backlog })
    await listening
    this.#keep(server, { listener: at, slot, isAlone: !reusePort, handle: handleOf(server) })
    return { ...listener, port: portOf(server) }
  }

  #keep(server: Server, socket: ListeningSocket): void {
    const key = `${socket.listener} ${socket.slot}`
    this.#servers.set(key, server)
    this.#sockets.set(key, socket)
  }

  #serve(
    listener: Listener,
    address: Address | SocketHandle,
  ): { readonly server: Server; readonly listening: Promise<void> } {
    // A client may send its FIN after its last request, and still wait for the response.
    const options = { allowHalfOpen: true, noDelay: true, highWaterMark }
    const server = createServer(options, socket => {
      this.#accepted++
      this.#owner.accept(socket, listener)
    })
    const { promise: listening, resolve, reject } = Promise.withResolvers<void>()
    const failed = (error: Error) => this.#owner.acceptFailed(error)
    server.once('error', reject)
    server.listen(address as SocketHandle, backlog, () => {
      server.off('error', reject)
      if (canScreen(listener)) screen(server, connection => this.#hold(connection))
      server.on('error', failed)
      resolve()
    })
    return { server, listening }
  }

  #hold(connection: AcceptedConnection): boolean {
    const isHeld = this.#owner.hold(connection)
    if (isHeld) this.#accepted++
    return isHeld
  }
}

/** Whether clients can break HTTP/2, and are known before anything is read. */
function canScreen({ tls, h2c, proxyProtocol }: Listener): boolean {
  return (tls || h2c === true) && proxyProtocol !== true
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
