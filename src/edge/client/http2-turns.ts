// Which connections over HTTP/2 read on once a turn of the event loop has had its work: a slice each, the addresses in turns and each one's connections in turns, so that whoever
// comes with many waits for those and keeps nobody else waiting.

import { clientKey } from '../../base/address/client-key.ts'
import { TurnWork, workOfTurn } from '../../http2/turn-work.ts'

/** What one connection may do before it is the turn of another one. */
const slice = workOfTurn / 4
/** Exchanges under way beyond which a turn has one slice: more of them would wait at their origins, and everybody's behind them. */
const many = 128

interface Reader {
  readonly peer: string
  /** Reads on with so much work, and waits again where that was not enough; must not throw. */
  readOn(work: number): void
}

export class Http2Turns {
  /** What all connections share. */
  readonly work = new TurnWork()
  /** Counts the exchanges of all connections that are not over. */
  underWay = 0
  /** By address; the one that was served last stands last. */
  readonly #waiting = new Map<string, Reader[]>()
  #isPlanned = false

  /** Has a connection read on when it is its turn. */
  add(reader: Reader): void {
    const key = clientKey(reader.peer)
    const readers = this.#waiting.get(key)
    if (readers === undefined) this.#waiting.set(key, [reader])
    else readers.push(reader)
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(this.#turn)
  }

  readonly #turn = (): void => {
    let left = this.underWay > many ? slice : workOfTurn
    while (left > 0 && this.#waiting.size > 0) {
      const most = Math.min(left, slice)
      this.#next().readOn(most)
      left -= most - this.work.left
    }
    this.#isPlanned = this.#waiting.size > 0
    if (this.#isPlanned) setImmediate(this.#turn)
    // Until nobody waits, what comes is put behind those who do.
    this.work.left = this.#isPlanned ? 0 : workOfTurn
  }

  #next(): Reader {
    const [key, readers] = this.#waiting.entries().next().value!
    const next = readers.shift()!
    this.#waiting.delete(key)
    if (readers.length > 0) this.#waiting.set(key, readers)
    return next
  }
}
