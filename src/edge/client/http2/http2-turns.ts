// Which connections over HTTP/2 read on once a turn of the event loop has had its work: a slice each, the addresses in turns and each one's connections in turns, so that whoever
// comes with many waits for those and keeps nobody else waiting.

import { TurnWork, workOfTurn } from '../../../http2/frames/turn-work.ts'
import type { Http2Address } from './http2-address.ts'

/** What one connection may do before it is the turn of another one, and all that a crowded address may do in a turn of the loop. */
const slice = workOfTurn / 4
/** Requests of clients that have left which are ended in a turn: each may close a connection to an origin. */
const mostEnded = 16

/** A connection whose client has left. */
interface Leaver {
  /** Ends so many of its requests; returns how many more it could have ended, above 0 where none is left. Must not throw. */
  endSome(most: number): number
}

export class Http2Turns {
  /** What all connections share. */
  readonly work = new TurnWork()
  /** Those with connections that wait; the one that was served last stands last. */
  readonly #waiting = new Set<Http2Address>()
  readonly #leaving = new Set<Leaver>()
  #planned: NodeJS.Immediate | null = null
  /** For addresses that wait for some ms. */
  #timer: NodeJS.Timeout | null = null

  /** Has connections of an address read on when it is their turn. */
  add(address: Http2Address): void {
    this.#waiting.add(address)
    this.#plan()
  }

  /** Has all requests of a connection be ended in its turn. */
  end(leaver: Leaver): void {
    this.#leaving.add(leaver)
    this.#plan()
  }

  /** Takes note that a connection has read, for the next turn to have all of its work again. */
  wasRead(): void {
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
    // Until nobody waits, what comes is put behind those who do.
    this.work.left = delay === 0 ? 0 : workOfTurn
    if (delay === 0 || this.#leaving.size > 0) this.#plan()
    else if (delay !== Number.POSITIVE_INFINITY) this.#timer = setTimeout(this.#turn, delay)
  }

  #endSome(): void {
    let left = mostEnded
    for (const leaver of this.#leaving) {
      left = leaver.endSome(left)
      if (left === 0) return
      this.#leaving.delete(leaver)
    }
  }

  /** Has connections read on; returns the ms until the next one may, 0 where the work of the turn is done before. */
  #readSome(): number {
    let left: number = workOfTurn
    let delay = Number.POSITIVE_INFINITY
    let looks = this.#waiting.size
    for (const address of this.#waiting) {
      if (looks-- === 0) break
      if (left <= 0) return 0
      this.#waiting.delete(address)
      if (address.delay > 0) {
        delay = Math.min(delay, address.delay)
        this.#waiting.add(address)
        continue
      }
      const most = Math.min(left, slice)
      this.work.left = most
      address.readOn(most)
      left -= most - this.work.left
      if (!address.hasWaiting) continue
      this.#waiting.add(address)
      if (!address.isCrowded) looks++
      else delay = Math.min(delay, address.delay)
    }
    return delay
  }
}
