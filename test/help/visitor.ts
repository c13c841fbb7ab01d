// Clients that keep connecting to a side port while gateways change places there.

import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Connects to a side port again and again, and sends its request after a pause, in ms. */
export class Visitor {
  /** How many connections got their response from a gateway that had left the port already. */
  late = 0
  /** How many connections have ended. */
  count = 0
  readonly #port: number
  readonly #pause: number
  readonly #outcomes: Promise<readonly string[]>
  #hasLeft = false

  constructor(port: number, pause: number) {
    this.#port = port
    this.#pause = pause
    this.#outcomes = this.#visitAll()
  }

  /** Returns how each connection ended. */
  leave(): Promise<readonly string[]> {
    this.#hasLeft = true
    return this.#outcomes
  }

  async #visitAll(): Promise<readonly string[]> {
    const outcomes: string[] = []
    while (!this.#hasLeft) {
      outcomes.push(await this.#visit().catch((cause: NodeJS.ErrnoException) => String(cause.code)))
      this.count++
      // Who comes back without a pause takes the processors from the gateways that start.
      await sleep(5)
    }
    return outcomes
  }

  async #visit(): Promise<string> {
    const socket = connect(this.#port, '127.0.0.1').setEncoding('latin1')
    try {
      await once(socket, 'connect')
      if (this.#pause > 0) await sleep(this.#pause)
      socket.write('GET /healthz HTTP/1.1\r\nhost: gateway\r\n\r\n')
      const { value: head = '' } = await socket[Symbol.asyncIterator]().next()
      if (!head.startsWith('HTTP/1.1 200 ')) return `got ${JSON.stringify(head)}`
      if (/^connection: close\r$/m.test(head)) this.late++
      return 'served'
    } finally {
      socket.destroy()
    }
  }
}

/** Returns how many connections got their response from a gateway that had left the port already. */
export function late(visitors: readonly Visitor[]): number {
  return visitors.reduce((sum, visitor) => sum + visitor.late, 0)
}
