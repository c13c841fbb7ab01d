// Batches what one process reports to another about bans, so that a flood of refusals or of addresses does not become a flood of messages.

import type { BanNews } from './bans.ts'

/** The shortest time between two messages, in ms. */
const period = 100
/** The maximum number of keys in one message; the rest go into the next. */
const maxSent = 1_000
/** The maximum number of queued keys: more would be reported too late to matter, and are dropped. */
const maxQueued = 5_000

export class BanMessages {
  readonly #send: (news: BanNews) => Promise<unknown> | undefined
  readonly #byId = new Map<string, Map<string, number>>()
  #waiting = 0
  #timer: NodeJS.Timeout | null = null

  /** `send` sends a message and resolves when the next may follow; it must not reject. */
  constructor(send: (news: BanNews) => Promise<unknown> | undefined) {
    this.#send = send
  }

  /** Adds to the number reported for a key, which is sent within 600 ms. */
  add(id: string, key: string, number: number): void {
    let numbers = this.#byId.get(id)
    const count = numbers?.get(key)
    if (count === undefined && this.#waiting === maxQueued) return
    if (count === undefined) this.#waiting++
    if (numbers === undefined) this.#byId.set(id, (numbers = new Map()))
    numbers.set(key, (count ?? 0) + number)
    this.#timer ??= this.#later()
  }

  #later(): NodeJS.Timeout {
    return setTimeout(() => void this.#post(), period).unref()
  }

  async #post(): Promise<void> {
    await this.#send(this.#take())
    this.#timer = this.#waiting === 0 ? null : this.#later()
  }

  #take(): BanNews {
    const news: [string, Map<string, number>][] = []
    let room = maxSent
    for (const [id, numbers] of this.#byId) {
      if (room === 0) break
      const taken = numbers.size <= room ? numbers : takeFirst(numbers, room)
      if (taken === numbers) this.#byId.delete(id)
      room -= taken.size
      news.push([id, taken])
    }
    this.#waiting -= maxSent - room
    return news
  }
}

/** Removes the first `count` entries of a larger map, and returns them as a new map. */
function takeFirst(numbers: Map<string, number>, count: number): Map<string, number> {
  const taken = new Map<string, number>()
  for (const [key, number] of numbers) {
    if (taken.size === count) return taken
    taken.set(key, number)
    numbers.delete(key)
  }
  return taken
}
