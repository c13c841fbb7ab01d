// Once the work of a turn is spent, slices go round the addresses, and round the connections of each.

import { TurnWork, workOfTurn } from '../../../http2/frames/turn-work.ts'
import type { Http2Address } from './http2-address.ts'

/** The work of one connection, and of a crowded address in one turn of the event loop. */
const slice = workOfTurn / 4
/** Each may close a connection to an origin. */
const maxEnded = 16

interface DepartedConnection {
  /** Ends up to `max` of its requests; returns how many are left of that number. Must not throw. */
  endSome(max: number): number
}

export class Http2Turns {
  readonly work = new TurnWork()
  /** The last served comes last. */
  readonly #waiting = new Set<Http2Address>()
  readonly #departed = new Set<DepartedConnection>()
  #planned: NodeJS.Immediate | null = null
  #timer: NodeJS.Timeout | null = null

  add(address: Http2Address): void {
    this.#waiting.add(address)
    this.#plan()
  }

  end(connection: DepartedConnection): void {
    this.#departed.add(connection)
    this.#plan()
  }

  planAfterRead(): void {
    if (this.work.left < workOfTurn) this.#plan()
  }

  #plan(): void {
    this.#planned ??= setImmediate(this.#turn)
  }

  readonly #turn = (): void => {
    this.#planned = null
    clearTimeout(this.#timer ?? undefined)
    this.#timer = null
    this.#endSome()
    const delay = this.#readSome()
    // While any are queued, what arrives is queued behind them.
    this.work.left = delay === 0 ? 0 : workOfTurn
    if (delay === 0 || this.#departed.size > 0) this.#plan()
    else if (delay !== Number.POSITIVE_INFINITY) this.#timer = setTimeout(this.#turn, delay)
  }

  #endSome(): void {
    let left = maxEnded
    for (const connection of this.#departed) {
      left = connection.endSome(left)
      if (left === 0) return
      this.#departed.delete(connection)
    }
  }

  /** Returns the ms until the next may read on, 0 if the work of this turn is spent first. */
  #readSome(): number {
    let left: number = workOfTurn
    let delay = Number.POSITIVE_INFINITY
    let rounds = this.#waiting.size
    for (const address of this.#waiting) {
      if (rounds-- === 0) break
      if (left <= 0) return 0
      this.#waiting.delete(address)
      if (address.delay > 0) {
        delay = Math.min(delay, address.delay)
        this.#waiting.add(address)
        continue
      }
      const max = Math.min(left, slice)
      this.work.left = max
      address.readOn(max)
      left -= max - this.work.left
      if (!address.hasWaiting) continue
      this.#waiting.add(address)
      if (!address.isCrowded) rounds++
      else delay = Math.min(delay, address.delay)
    }
    return delay
  }
}
