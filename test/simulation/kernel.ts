// One port of a machine in a world: sockets that processes share, with the connections that wait at each.

import type { SocketHandle } from '../../src/net/socket/listening-socket.ts'
import type { Process, World } from './world.ts'

interface Acceptor {
  readonly process: Process
  readonly serves: number | null
}

/** A connection of a client, with times in ms of the world. */
export interface Connection {
  readonly cameAt: number
  state: 'waiting' | 'accepted' | 'done' | 'cut' | 'reset'
  by: Process | null
  /** The configuration by which it was served. */
  version: number | null
}

export class Kernel {
  readonly connections: Connection[] = []
  /** Called when a client is turned away. */
  refused: (why: string) => void = () => {}
  readonly #world: World
  readonly #sockets: Socket[] = []

  constructor(world: World) {
    this.#world = world
  }

  bind(process: Process): Handle {
    const socket = new Socket(this.#world, this)
    this.#sockets.push(socket)
    return new Handle(socket, process)
  }

  connect(): void {
    const socket = this.#world.pick(this.#sockets.filter(({ isOpen }) => isOpen))
    const connection: Connection = { cameAt: this.#world.time, state: 'waiting', by: null, version: null }
    this.connections.push(connection)
    if (socket !== null) return socket.take(connection)
    connection.state = 'reset'
    this.refused('a connection is refused')
  }

  /** Closes all that a process had, as it has ended. */
  bury(process: Process): void {
    for (const connection of this.connections)
      if (connection.by === process && connection.state === 'accepted') connection.state = 'cut'
    for (const socket of this.#sockets) socket.bury(process)
  }

  /** Resolves when no connection of a process is open. */
  async finished(process: Process): Promise<void> {
    while (this.connections.some(({ by, state }) => by === process && state === 'accepted'))
      await new Promise<void>(resolve => void this.#world.later(process, 100, resolve))
  }
}

class Socket {
  readonly #world: World
  readonly #kernel: Kernel
  readonly #handles = new Set<Handle>()
  readonly #acceptors = new Map<Handle, Acceptor>()
  #waiting: Connection[] = []

  constructor(world: World, kernel: Kernel) {
    this.#world = world
    this.#kernel = kernel
  }

  get isOpen(): boolean {
    return this.#handles.size > 0
  }

  open(handle: Handle): void {
    this.#handles.add(handle)
  }

  close(handle: Handle): void {
    this.#acceptors.delete(handle)
    if (!this.#handles.delete(handle) || this.isOpen) return
    for (const connection of this.#waiting.splice(0)) {
      connection.state = 'reset'
      this.#kernel.refused('a connection that waited is reset')
    }
  }

  bury(process: Process): void {
    for (const handle of [...this.#handles]) if (handle.process === process) handle.close()
  }

  accept(handle: Handle, acceptor: Acceptor): void {
    if (this.#handles.has(handle)) this.#acceptors.set(handle, acceptor)
    this.#poke()
  }

  take(connection: Connection): void {
    this.#waiting.push(connection)
    this.#poke()
  }

  acceptAll(process: Process): void {
    for (const [{ process: own }, { serves }] of this.#acceptors)
      if (own === process)
        for (const connection of this.#waiting.splice(0)) this.#serve(connection, process, serves)
  }

  #poke(): void {
    for (const { process } of this.#acceptors.keys())
      this.#world.later(process, this.#world.below(5), () => this.acceptAll(process))
  }

  #serve(connection: Connection, by: Process, version: number | null): void {
    Object.assign(connection, { state: 'accepted', by, version })
    this.#world.later(by, this.#world.below(2_000), () => {
      if (connection.state === 'accepted') connection.state = 'done'
    })
  }
}

export class Handle implements SocketHandle {
  readonly fd = 0
  readonly socket: Socket
  readonly process: Process

  constructor(socket: Socket, process: Process) {
    this.socket = socket
    this.process = process
    socket.open(this)
  }

  /** What a process gets with a message; it is open from the moment in which that is sent. */
  passTo(process: Process): Handle {
    const handle = new Handle(this.socket, process)
    if (!process.isAlive) handle.close()
    return handle
  }

  accept(acceptor: Acceptor): void {
    this.socket.accept(this, acceptor)
  }

  close(): void {
    this.socket.close(this)
  }
}
