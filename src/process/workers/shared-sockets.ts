// The listening sockets of all workers; another one accepts for a worker that is not up.

import type { ListeningSocket } from '../../net/socket/listening-socket.ts'
import type { SocketPlace } from './messages.ts'

export interface Acceptor {
  readonly slot: number
  adopt(socket: ListeningSocket): void
  release(place: SocketPlace): void
}

export class SharedSockets {
  readonly #workers: number
  readonly #sockets = new Map<string, ListeningSocket>()
  readonly #adopted = new Map<string, Acceptor>()

  constructor(workers: number, sockets: readonly ListeningSocket[] = []) {
    this.#workers = workers
    for (const socket of sockets) this.keep(socket)
  }

  get all(): readonly ListeningSocket[] {
    return [...this.#sockets.values()]
  }

  keep(socket: ListeningSocket): void {
    this.#sockets.set(keyOf(socket), socket)
  }

  /** A worker binds its own for listeners without any. With more sockets than workers, each has several. */
  of(slot: number): readonly ListeningSocket[] {
    const groups = Map.groupBy(this.all, ({ listener }) => listener)
    return [...groups.values()].flatMap(group => {
      const own = group.filter(socket => socket.slot % this.#workers === slot)
      if (own.length > 0 || !group.every(({ isAlone }) => isAlone)) return own
      return group[slot % group.length]!
    })
  }

  /** Assigns every socket to a running worker; a socket returns to its own worker once that is up. */
  cover(up: readonly Acceptor[]): void {
    const covered = new Set(up.flatMap(({ slot }) => this.of(slot)).map(keyOf))
    for (const [key, socket] of this.#sockets) {
      const adopter = this.#adopted.get(key)
      const isAdopted = adopter !== undefined && up.includes(adopter)
      if (isAdopted && covered.has(key)) adopter.release(placeOf(socket))
      if (!isAdopted || covered.has(key)) this.#adopted.delete(key)
      if (!isAdopted && !covered.has(key)) this.#giveTo(up[socket.slot % up.length], socket)
    }
  }

  close(): void {
    for (const { handle } of this.#sockets.values()) handle.close()
    this.#sockets.clear()
  }

  #giveTo(worker: Acceptor | undefined, socket: ListeningSocket): void {
    if (worker === undefined) return
    this.#adopted.set(keyOf(socket), worker)
    worker.adopt(socket)
  }
}

function keyOf({ listener, slot }: SocketPlace): string {
  return `${listener} ${slot}`
}

function placeOf({ handle: _, ...place }: ListeningSocket): SocketPlace {
  return place
}
