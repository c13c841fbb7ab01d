// The client of a rehearsed request. What the gateway writes to it is stored, and nothing leaves the process.

import { canonicalAddress } from '../../net/address/address.ts'
import type { BodyReader } from '../../http1/body/body.ts'
import { chunkText } from '../../http1/body/chunk.ts'
import { LastToken } from '../../tokens/verify.ts'
import { tooLarge } from '../steps/bound.ts'
import { LastRequest } from '../exchange/request-reuse.ts'
import { nodeOf } from '../exchange/forwarded-trust.ts'
import type { Client, ClientTls, Exchange, ResponseTop } from '../exchange/exchange.ts'
import { guarded } from '../../base/guarded.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'

export const typicalTls: ClientTls = {
  serverName: null,
  host: '',
  version: 'TLSv1.3',
  cipher: 'TLS_AES_128_GCM_SHA256',
  trust: '',
  isFips: true,
  certificate: null,
}

export class RehearsalClient implements Client {
  readonly peer: string
  readonly node: string
  readonly lastToken = new LastToken()
  readonly last = new LastRequest()
  isTrusted = false
  readonly isAnonymous = false
  readonly tls: ClientTls | null
  readonly isPlaintextOnTls = false
  readonly pinned = null
  lines = ''
  body: BodyReader | null = null
  /** Settles when the body is needed but missing, or refused; rejects for a bug. */
  readonly bodyEnd: Promise<'unknown' | Refusal>
  exchange: Exchange | null = null
  readonly #text: string | null
  readonly #settle: (end: 'unknown' | Refusal) => void
  readonly #fail: (bug: unknown) => void

  constructor(address: string, text: string | null, tls: ClientTls | null) {
    this.tls = tls
    this.peer = canonicalAddress(address) ?? ''
    this.node = nodeOf(this.peer)
    this.#text = text
    const { promise, resolve, reject } = Promise.withResolvers<'unknown' | Refusal>()
    this.bodyEnd = promise
    this.#settle = resolve
    this.#fail = reject
  }

  respond(_: Exchange, { lines }: ResponseTop): void {
    this.lines = lines
  }

  /** No origin responds in a rehearsal. */
  relay(): never {
    throw new Error('an origin was asked')
  }

  readBody(): void {
    if (this.#text === null) this.#settle('unknown')
    else setImmediate(guarded(() => this.#deliver(this.exchange!, Buffer.from(this.#text!)), this.#fail))
  }

  endedWithout(): never {
    throw new Error('an origin was asked')
  }

  finish(x: Exchange): void {
    x.stage = 'complete'
  }

  cutOff(x: Exchange): void {
    this.finish(x)
  }

  abandon(x: Exchange): void {
    this.finish(x)
  }

  discardBody(): boolean {
    return false
  }

  interim(): boolean {
    return true
  }

  write(): boolean {
    return true
  }

  sendContinue(): void {}
  append(): void {}
  endBody(): void {}
  switchProtocols(): void {}
  pauseBody(): void {}

  #deliver(x: Exchange, body: Buffer): void {
    const bytes = x.head.chunked ? Buffer.from(`${chunkText(body)}0\r\n\r\n`, 'latin1') : body
    const requestBody = this.body!
    for (let at = 0; at < bytes.length && !requestBody.done; ) {
      at = requestBody.next(bytes, at)
      const { from, to } = requestBody
      if (requestBody.faulty) return this.#settle(refuse('bad_request'))
      x.bytesIn += to - from
      if (x.bytesIn > x.bodyLimit) return this.#settle(tooLarge(x))
      if (to > from) x.handler?.body(bytes.subarray(from, to))
    }
    if (requestBody.done) x.handler?.bodyEnd()
    else this.#settle('unknown')
  }
}
