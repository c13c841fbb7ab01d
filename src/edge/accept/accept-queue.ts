// Connections that are accepted in one turn of the event loop and served in later ones: the system hands over all that wait at once, each of which costs a tenth of a millisecond.

import type { AcceptedConnection } from '../../base/accepted-connection.ts'

/** Connections that are served in a turn. */
const most = 8

export class AcceptQueue {
  /** In the order in which they came. */
  #waiting: AcceptedConnection[] = []
  /** Those that were served in this turn. */
  #served = 0
  #isPlanned = false

  /** Whether a connection is to wait, which is served in its turn then. */
  delays(connection: AcceptedConnection): boolean {
    this.#plan()
    if (this.#served < most) {
      this.#served++
      return false
    }
    this.#waiting.push(connection)
    return true
  }

  readonly #turn = (): void => {
    this.#isPlanned = false
    const next = this.#waiting.splice(0, most)
    this.#served = next.length
    if (next.length > 0) this.#plan()
    for (const connection of next) connection.serve()
  }

  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(this.#turn)
  }
}
