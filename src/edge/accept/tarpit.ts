// Holds new connections of penalised clients for a moment, in order of arrival, so that an attacker that
// replaces each as soon as it ends queues behind others at its address.

import { clientKey } from '../../net/address/client-key.ts'

/** Ms after which a connection is due, and the maximum of held connections. */
const holdTime = 200
const maxHeld = 1_024

interface PendingConnection {
  serve(): void
  reset(): void
}

export interface HeldConnection {
  readonly connection: PendingConnection
  readonly peer: string
  readonly isCounted: boolean
}

/** In order of arrival, with the monotonic ms at which they are due. */
type Queue = { readonly held: HeldConnection; readonly dueAt: number }[]

export class Tarpit {
  /** The least recently released first. */
  readonly #queues = new Map<string, Queue>()
  #size = 0

  get size(): number {
    return this.#size
  }

  has(peer: string): boolean {
    return this.#size > 0 && this.#queues.has(clientKey(peer))
  }

  /** If that is one too many, returns the newest of the client with the most. */
  hold(held: HeldConnection, now: number): HeldConnection | undefined {
    const key = clientKey(held.peer)
    const queue = this.#queues.get(key) ?? []
    this.#queues.set(key, queue)
    queue.push({ held, dueAt: now + holdTime })
    return ++this.#size > maxHeld ? this.#takeNewest() : undefined
  }

  /** Removes the oldest of the clients in turns, at most so many, that are due or may go ahead of time. */
  release(
    max: number,
    now: number,
    mayRelease: (held: HeldConnection) => boolean,
  ): readonly HeldConnection[] {
    const released: HeldConnection[] = []
    let rounds = this.#queues.size
    for (const [key, queue] of this.#queues) {
      if (rounds-- === 0 || released.length === max) break
      const { held, dueAt } = queue[0]!
      if (now < dueAt && !mayRelease(held)) continue
      released.push(this.#takeOldest(key, queue))
      if (queue.length > 0) rounds++
    }
    return released
  }

  empty(): readonly HeldConnection[] {
    const all = [...this.#queues.values()].flatMap(queue => queue.map(({ held }) => held))
    this.#queues.clear()
    this.#size = 0
    return all
  }

  #takeOldest(key: string, queue: Queue): HeldConnection {
    const { held } = queue.shift()!
    this.#size--
    this.#queues.delete(key)
    if (queue.length > 0) this.#queues.set(key, queue)
    return held
  }

  #takeNewest(): HeldConnection {
    let [key, largest] = [...this.#queues][0]!
    for (const [other, queue] of this.#queues)
      if (queue.length > largest.length) [key, largest] = [other, queue]
    this.#size--
    if (largest.length === 1) this.#queues.delete(key)
    return largest.pop()!.held
  }
}
