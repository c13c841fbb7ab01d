// Connections by network, with quick access to the largest networks.

/** With the monotonic ms of their arrival, the oldest first. */
export interface Crowd<Connection> {
  readonly network: string
  readonly members: Map<Connection, number>
}

const maxVisited = 128

export class Crowds<Connection> {
  readonly #byNetwork = new Map<string, Crowd<Connection>>()
  readonly #bySize = new Map<number, Set<Crowd<Connection>>>()
  #largestSize = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  of(network: string): Crowd<Connection> | undefined {
    return this.#byNetwork.get(network)
  }

  get largest(): Crowd<Connection> | undefined {
    return this.#bySize.get(this.#largestSize)?.values().next().value
  }

  /** Connections may come and go between the yields. */
  *largestFirst(): Generator<Crowd<Connection>> {
    let former = maxVisited
    for (let size = this.#largestSize; size > 0 && former > 0; size--, former--)
      for (const crowd of this.#bySize.get(size) ?? []) {
        if (former-- === 0) return
        yield crowd
      }
  }

  add(network: string, connection: Connection, now: number): void {
    let crowd = this.#byNetwork.get(network)
    if (crowd === undefined) {
      crowd = { network, members: new Map() }
      this.#byNetwork.set(network, crowd)
    }
    const { size } = crowd.members
    crowd.members.set(connection, now)
    this.#resize(crowd, size)
  }

  delete(network: string, connection: Connection): boolean {
    const crowd = this.#byNetwork.get(network)
    const size = crowd?.members.size ?? 0
    if (crowd?.members.delete(connection) !== true) return false
    if (size === 1) this.#byNetwork.delete(network)
    this.#resize(crowd, size)
    return true
  }

  #resize(crowd: Crowd<Connection>, oldSize: number): void {
    const { size } = crowd.members
    this.#size += size - oldSize
    const former = this.#bySize.get(oldSize)
    if (former?.delete(crowd) && former.size === 0) this.#bySize.delete(oldSize)
    if (size > 0) {
      const sameSize = this.#bySize.get(size)
      if (sameSize === undefined) this.#bySize.set(size, new Set([crowd]))
      else sameSize.add(crowd)
    }
    // Sizes change by one.
    if (size > this.#largestSize || !this.#bySize.has(this.#largestSize)) this.#largestSize = size
  }
}
