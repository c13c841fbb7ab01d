// Holds new connections of penalised clients for a moment before a byte of them is read. Those of a client are released in the order in which they came: an attacker that replaces each
// connection as soon as it ends stands behind whoever shares its address.

import { clientKey } from '../../net/address/client-key.ts'

/** Ms after which a connection is due, and how many are held at one time. */
const holdTime = 200
const mostHeld = 1_024

/** A connection that can go on or end. */
interface Waiting {
  serve(): void
  /** Ends it with a reset. */
  reset(): void
}

export interface Held {
  readonly connection: Waiting
  readonly peer: string
  /** Whether it counts under the limits for as long as it is held. */
  readonly isCounted: boolean
}

/** What is held of a client, in the order in which it came, each with the monotonic ms at which it is due. */
type Queue = { readonly held: Held; readonly dueAt: number }[]

export class Tarpit {
  /** Those with connections; the one that had one released last stands last. */
  readonly #queues = new Map<string, Queue>()
  #size = 0

  /** How many are held. */
  get size(): number {
    return this.#size
  }

  /** Whether any connection of a client is held. */
  has(peer: string): boolean {
    return this.#size > 0 && this.#queues.has(clientKey(peer))
  }

  /** Holds a connection from monotonic ms `now` on; where that is one too many, returns the newest of the client that has the most. */
  hold(held: Held, now: number): Held | undefined {
    const key = clientKey(held.peer)
    const queue = this.#queues.get(key) ?? []
    this.#queues.set(key, queue)
    queue.push({ held, dueAt: now + holdTime })
    return ++this.#size > mostHeld ? this.#takeNewest() : undefined
  }

  /** Takes out the oldest of each client in turns, at most so many in all, that are due by monotonic ms `now` or may go on before. */
  release(most: number, now: number, mayGoOn: (held: Held) => boolean): readonly Held[] {
    const released: Held[] = []
    let looks = this.#queues.size
    for (const [key, queue] of this.#queues) {
      if (looks-- === 0 || released.length === most) break
      const { held, dueAt } = queue[0]!
      if (now < dueAt && !mayGoOn(held)) continue
      released.push(this.#takeOldest(key, queue))
      if (queue.length > 0) looks++
    }
    return released
  }

  /** Takes out all that are held. */
  empty(): readonly Held[] {
    const all = [...this.#queues.values()].flatMap(queue => queue.map(({ held }) => held))
    this.#queues.clear()
    this.#size = 0
    return all
  }

  #takeOldest(key: string, queue: Queue): Held {
    const { held } = queue.shift()!
    this.#size--
    this.#queues.delete(key)
    if (queue.length > 0) this.#queues.set(key, queue)
    return held
  }

  #takeNewest(): Held {
    let [key, largest] = [...this.#queues][0]!
    for (const [other, queue] of this.#queues)
      if (queue.length > largest.length) [key, largest] = [other, queue]
    this.#size--
    if (largest.length === 1) this.#queues.delete(key)
    return largest.pop()!.held
  }
}
