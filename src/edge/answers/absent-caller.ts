// Takes the place of a caller that has left while others wait for the response to its call, or may ask for
// it.

import type { Client, Exchange, ResponseSink } from '../exchange/exchange.ts'
import type { Plane } from '../snapshot/plane.ts'

const sink: ResponseSink = {
  hasBegun: true,
  data: () => true,
  flush: () => true,
  end: () => {},
}

export class AbsentCaller implements Client {
  readonly peer: Client['peer']
  readonly node: Client['node']
  readonly lastToken: Client['lastToken']
  readonly last: Client['last']
  readonly isTrusted: Client['isTrusted']
  readonly tls: Client['tls']
  readonly isPlaintextOnTls = false
  pinned: Client['pinned'] = null
  readonly #x: Exchange
  readonly #plane: Plane
  readonly #caller: Client

  /** Lets an exchange go on without anybody who reads it. */
  static replace(x: Exchange): void {
    const caller = new AbsentCaller(x)
    x.client = caller
    // Others get the response, as far as it comes.
    x.aborted = false
    x.plane.metrics.clientAbort()
    x.plane.abandoned.add(caller)
    const flight = x.ai!.flight!
    flight.onEmpty = () => {
      if (!flight.isPersistent || !flight.isWhole) caller.#leave()
    }
  }

  private constructor(x: Exchange) {
    const { peer, node, lastToken, last, isTrusted, tls } = x.client
    this.peer = peer
    this.node = node
    this.lastToken = lastToken
    this.last = last
    this.isTrusted = isTrusted
    this.tls = tls
    this.#x = x
    this.#plane = x.plane
    this.#caller = x.client
  }

  get deadline(): number {
    return this.#x.handler?.deadline ?? Number.POSITIVE_INFINITY
  }

  /** At its deadline the handler decides; before that, this process ends. */
  expire(): void {
    const { handler } = this.#x
    if (handler !== null && this.#plane.clock.monotonic() >= handler.deadline) handler.expire()
    else this.#leave()
  }

  finish(x: Exchange): void {
    this.#plane.abandoned.delete(this)
    x.releaseLongWork()
    x.stage = 'complete'
    x.handler = null
    this.#caller.endedWithout(x)
  }

  cutOff(x: Exchange): void {
    this.finish(x)
  }

  abandon(x: Exchange): void {
    x.handler?.abort()
    this.finish(x)
  }

  endBody(x: Exchange): void {
    this.finish(x)
  }

  relay(): ResponseSink {
    return sink
  }

  interim(): boolean {
    return true
  }

  write(): boolean {
    return true
  }

  discardBody(): boolean {
    return false
  }

  endedWithout(): void {}
  sendContinue(): void {}
  respond(): void {}
  append(): void {}
  switchProtocols(): void {}
  readBody(): void {}
  pauseBody(): void {}

  /** Those who waited have left, too. */
  #leave(): void {
    const x = this.#x
    if (x.stage === 'complete') return
    x.aborted = true
    this.abandon(x)
  }
}
