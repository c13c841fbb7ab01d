// Batches reports about bans between processes: a flood of refusals must not become one of messages.

import type { BanNews } from './bans.ts'

/** Min ms between two messages. */
const period = 100
const maxSent = 1_000
/** More would be reported too late to matter, and are dropped. */
const maxQueued = 5_000

export class BanMessages {
  readonly #send: (news: BanNews) => Promise<unknown> | undefined
  readonly #byId = new Map<string, Map<string, number>>()
  #waiting = 0
  #timer: NodeJS.Timeout | null = null

  /** `send` resolves when the next message may follow; it must not reject. */
  constructor(send: (news: BanNews) => Promise<unknown> | undefined) {
    this.#send = send
  }

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
      const part = numbers.size <= room ? numbers : takeFirst(numbers, room)
      if (part === numbers) this.#byId.delete(id)
      room -= part.size
      news.push([id, part])
    }
    this.#waiting -= maxSent - room
    return news
  }
}

function takeFirst(numbers: Map<string, number>, count: number): Map<string, number> {
  const part = new Map(numbers.entries().take(count))
  for (const key of part.keys()) numbers.delete(key)
  return part
}
