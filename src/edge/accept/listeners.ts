// The listening sockets of a process: bound all together or not at all, and closed without a reset for anyone who is connecting.

import { createServer, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { Listener } from '../../config/config.ts'
import { highWaterMark } from '../origin/dial.ts'

/** Ms of a turn of the loop in which hardly any connection can have come, and how many turns are waited for one. */
const shortTurn = 0.05
const mostTurns = 200

interface ListenersOwner {
  /** Takes a connection of a listener; must not throw. */
  accept(socket: Socket, listener: Listener): void
  acceptFailed(error: Error): void
}

export class Listeners {
  readonly #owner: ListenersOwner
  readonly #servers: Server[] = []
  /** Counts the connections that were accepted. */
  #accepted = 0

  constructor(owner: ListenersOwner) {
    this.#owner = owner
  }

  /** Binds every listener and returns them with their real ports; binds none when one cannot be bound. */
  async bind(
    listeners: readonly Listener[],
    { reusePort }: { reusePort: boolean },
  ): Promise<readonly Listener[]> {
    const bound: Listener[] = []
    try {
      for (const listener of listeners) bound.push(await this.#bind(listener, reusePort))
    } catch (error) {
      this.close()
      throw error
    }
    return bound
  }

  /** Stops listening at once; the system resets the connections that nobody has accepted. */
  close(): void {
    for (const server of this.#servers) server.close()
  }

  /** Stops listening once the connections in the backlog are accepted, behind a turn that brought none and was short enough for hardly any other to have come. */
  async closeWhenQuiet(): Promise<void> {
    for (let turns = 0; turns < mostTurns; turns++) {
      const accepted = this.#accepted
      const begun = performance.now()
      await turn()
      if (turns > 0 && accepted === this.#accepted && performance.now() - begun < shortTurn) break
    }
    this.close()
  }

  #bind(listener: Listener, reusePort: boolean): Promise<Listener> {
    // A client that has sent its last request may close its half and still wait for the response.
    const options = { allowHalfOpen: true, noDelay: true, highWaterMark }
    const server = createServer(options, socket => {
      this.#accepted++
      this.#owner.accept(socket, listener)
    })
    this.#servers.push(server)
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      const { host, port: wanted } = listener
      server.listen({ host, port: wanted, reusePort, backlog: 4096 }, () => {
        server.off('error', reject)
        server.on('error', error => this.#owner.acceptFailed(error))
        const { port } = server.address() as { port: number }
        resolve({ ...listener, port })
      })
    })
  }
}
