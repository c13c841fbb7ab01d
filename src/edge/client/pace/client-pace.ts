// Whether a client keeps up, with its request and with the response, whichever waits for it.

import type { Socket } from 'node:net'
import type { Exchange } from '../../exchange/exchange.ts'
import { BodyPace, type SlowBody } from './body-pace.ts'
import { ReadPace } from './read-pace.ts'

export class ClientPace {
  /** Of the body that is being read; null as long as it has kept nobody waiting. */
  #body: BodyPace | null = null
  /** Null as long as nothing waits for the client to read. */
  #reading: ReadPace | null = null

  /** Finds why a body comes too slowly, null while it does not; once the response has begun, client and origin may take as long as both like. */
  bodyFault(x: Exchange, isAwaited: boolean, now: number): SlowBody | null {
    if (x.requestBody.done || x.stage !== 'none') return null
    this.#body ??= new BodyPace(x, now)
    return this.#body.look(isAwaited, now)
  }

  exchangeEnded(): void {
    this.#body = null
  }

  /** Whether the client takes what waits for it more slowly than so many bytes a second; 0 for any rate. */
  readsTooSlowly(socket: Socket, rate: number, now: number): boolean {
    if (socket.writableLength === 0) this.#reading = null
    if (socket.writableLength === 0 || rate === 0) return false
    this.#reading ??= new ReadPace(socket, now)
    if (!this.#reading.isSlow(rate, now)) return false
    this.#reading = null
    return true
  }
}
