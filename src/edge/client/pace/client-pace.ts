// Whether a client keeps up, in sending its request and in reading the response.

import type { Socket } from 'node:net'
import type { Exchange } from '../../exchange/exchange.ts'
import { BodyPace, type SlowBody } from './body-pace.ts'
import { ReadPace } from './read-pace.ts'

export class ClientPace {
  #body: BodyPace | null = null
  #reading: ReadPace | null = null

  /** Null once the response has begun: client and origin may then take their time. */
  bodyFault(x: Exchange, isAwaited: boolean, now: number): SlowBody | null {
    if (x.requestBody.done || x.stage !== 'none') return null
    this.#body ??= new BodyPace(x, now)
    return this.#body.check(isAwaited, now)
  }

  exchangeEnded(): void {
    this.#body = null
  }

  /** Whether the client reads more slowly than `rate` bytes a second; 0 for no minimum. */
  readsTooSlowly(socket: Socket, rate: number, now: number): boolean {
    if (socket.writableLength === 0) this.#reading = null
    if (socket.writableLength === 0 || rate === 0) return false
    this.#reading ??= new ReadPace(socket, now)
    if (!this.#reading.isSlow(rate, now)) return false
    this.#reading = null
    return true
  }
}
