// Reads the body of a followed redirect if that costs less than a new connection.

import type { Phase } from '../../errors/catalogue/phase.ts'
import type { Failure } from '../../errors/catalogue/origin-failure.ts'
import { deliverBug } from '../exchange/deliver.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ResponseHandler, ResponseBody } from '../origin/response-handler.ts'
import type { Lease } from '../origin/lease.ts'

interface RedirectFollower {
  redirectRead(): void
}

const worthReading = 64 * 1024

export class RedirectBody implements ResponseHandler {
  readonly deadline: number
  readonly wantsUpgrade = false
  readonly method: string
  readonly interim = impossible
  readonly head = impossible
  readonly acceptsUpgrade = impossible
  readonly switchProtocols = impossible
  readonly #x: Exchange
  readonly #follower: RedirectFollower
  readonly #lease: Lease
  #bytes = 0

  constructor(x: Exchange, follower: RedirectFollower, lease: Lease) {
    this.#x = x
    this.#follower = follower
    this.#lease = lease
    this.method = x.outgoing.method
    this.deadline = x.deadlineIn(x.route!.config.timeouts.idle)
    lease.handler = this
  }

  /** Skips a body that only ends with its connection. */
  read({ framing }: ResponseBody): void {
    if (framing === 'close') this.#skip()
  }

  expire(): void {
    this.release()
    this.#follower.redirectRead()
  }

  release(): void {
    this.#lease.destroy()
  }

  clientDrained(): void {
    this.#lease.resume()
  }

  data(bytes: Buffer): void {
    this.#bytes += bytes.length
    if (this.#bytes > worthReading) this.#skip()
  }

  end(): void {
    this.#x.member!.health.succeeded()
    this.#lease.giveBack()
    this.#follower.redirectRead()
  }

  failed(_phase: Phase, _failure: Failure): void {
    this.#follower.redirectRead()
  }

  crashed(bug: unknown): void {
    deliverBug(this.#x, bug)
  }

  flushResponse(): void {}
  originDrained(): void {}

  #skip(): void {
    this.#x.member!.health.succeeded()
    this.release()
    this.#follower.redirectRead()
  }
}

function impossible(): never {
  throw new Error('a second head came for one request')
}
