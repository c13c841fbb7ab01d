// Reads what a client sends: heads and bodies, one request after the other, and no more than somebody asks for.

import type { Socket } from 'node:net'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { BodyReader } from '../../http1/body/body.ts'
import { type RequestHead, requestBody } from '../../http1/heads/request-head.ts'
import type { HeadFault } from '../../http1/heads/request-line.ts'
import { tooLarge } from '../exchange/bounds.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { guarded } from '../../base/guarded.ts'
import type { Plane } from '../snapshot/plane.ts'
import { HeadReader } from './head-reader.ts'
import type { Lifetime } from './lifetime.ts'

/** Bytes of further requests that are read ahead while one is being served. */
const readAhead = 64 * 1024
/** Runs of body bytes that are read in one turn, of which a chunk of one byte is one. */
const mostRuns = 2_000

/** Who has the requests served. */
interface RequestTaker {
  /** The request that is being served; null between two. */
  readonly exchange: Exchange | null
  /** Takes the head of the next request, which `bytes` begin with, and what reads its body. */
  begin(head: RequestHead, body: BodyReader, bytes: Buffer): void
  /** Takes bytes that never became a request. */
  refuse(fault: HeadFault, bytes: Buffer): void
  /** Takes note that the body can't go on. */
  refuseBody(x: Exchange, refusal: Refusal): void
  /** All of the body has come. */
  bodyDone(x: Exchange): void
  /** Something was read, and the client has sent all that it will. */
  readToEnd(): void
  /** A bug of ours was met. */
  crashed(bug: unknown): void
}

export class RequestReader {
  /** Received and not yet read. */
  pending: Buffer | null = null
  isBodyWanted = false
  /** Whether the client has sent all that it will. */
  isEnded = false
  /** Whether it reads on in the next turn of the loop. */
  isResting = false
  readonly #taker: RequestTaker
  readonly #socket: Socket
  readonly #plane: Plane
  readonly #lifetime: Lifetime
  readonly #heads = new HeadReader()
  /** Of the request that is being served. */
  #body: BodyReader | null = null
  #isReading = false

  constructor(taker: RequestTaker, socket: Socket, plane: Plane, lifetime: Lifetime) {
    this.#taker = taker
    this.#socket = socket
    this.#plane = plane
    this.#lifetime = lifetime
  }

  /** Whether the client has sent all that it will, and that is not what is being read. */
  get isCutShort(): boolean {
    if (!this.isEnded || this.isResting) return false
    const x = this.#taker.exchange
    return x === null ? !this.#isHeldBack : this.isBodyWanted && !x.requestBody.done
  }

  receive(bytes: Buffer): void {
    if (!this.#lifetime.isOpen) return this.#lifetime.receivedBehind(bytes.length)
    this.pending = this.pending === null ? bytes : Buffer.concat([this.pending, bytes])
    this.read()
  }

  /** Reads what is pending as far as possible. Responses may come while it runs, so a call from within only lets the loop go on. */
  read(): void {
    if (this.#isReading || this.isResting) return
    this.#isReading = true
    try {
      for (
        let runs = 1;
        this.pending !== null && this.#lifetime.isOpen && this.#readSome(this.pending);
        runs++
      )
        if (this.pending !== null && (this.#taker.exchange === null || runs === mostRuns)) {
          this.#rest()
          break
        }
      this.#taker.exchange?.handler?.flushBody()
    } catch (bug) {
      this.#taker.crashed(bug)
    }
    this.#isReading = false
    if (this.isEnded) this.#taker.readToEnd()
  }

  /** Reads on when others have had their turn: requests that are refused at once may come by the thousand in one packet, and so may chunks. */
  #rest(): void {
    this.isResting = true
    const goOn = () => {
      this.isResting = false
      this.read()
    }
    setImmediate(guarded(goOn, bug => this.#taker.crashed(bug)))
  }

  /** Reads one head or one run of body bytes; false when that has to wait. */
  #readSome(bytes: Buffer): boolean {
    const x = this.#taker.exchange
    if (x === null) return this.#isHeldBack ? this.#holdBack(bytes) : this.#readHead(bytes)
    if (this.isBodyWanted && !x.requestBody.done) return this.#readBody(x, bytes)
    if (this.isBodyWanted && x.upgrade === 'done') return this.#passOn(x, bytes)
    if (x.requestBody.done) return this.#holdBack(bytes)
    this.#socket.pause()
    return false
  }

  /** Whether requests wait because the client does not read the responses to earlier ones. */
  get #isHeldBack(): boolean {
    return this.pending !== null && this.#socket.writableNeedDrain
  }

  #holdBack(bytes: Buffer): false {
    if (bytes.length > readAhead) this.#socket.pause()
    return false
  }

  #readHead(bytes: Buffer): boolean {
    const isFirst = !this.#heads.hasBegun
    const head = this.#heads.read(bytes, this.#plane.snapshot.limits)
    if (head === null) {
      if (!this.#heads.hasBegun) this.pending = null
      else if (isFirst) this.#lifetime.headBegun()
      return false
    }
    if (typeof head === 'string') {
      this.#taker.refuse(head, bytes)
      return false
    }
    this.pending = head.end === bytes.length ? null : bytes.subarray(head.end)
    this.isBodyWanted = false
    this.#body = requestBody(head)
    this.#taker.begin(head, this.#body, bytes)
    return true
  }

  #readBody(x: Exchange, bytes: Buffer): boolean {
    const body = this.#body!
    const at = body.next(bytes, 0)
    const { from, to } = body
    this.pending = at === bytes.length ? null : bytes.subarray(at)
    if (body.faulty) return this.#refuseBody(x, refuse('bad_request'))
    x.bytesIn += to - from
    if (x.bytesIn > x.bodyLimit) return this.#refuseBody(x, tooLarge(x))
    if (to > from) x.handler?.body(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to))
    if (body.done && this.#taker.exchange === x) this.#bodyDone(x)
    return true
  }

  #refuseBody(x: Exchange, refusal: Refusal): false {
    this.#taker.refuseBody(x, refusal)
    return false
  }

  #bodyDone(x: Exchange): void {
    this.isBodyWanted = false
    // The last bytes may have paused it, and only reading shows that the client leaves.
    this.#socket.resume()
    this.#taker.bodyDone(x)
  }

  #passOn(x: Exchange, bytes: Buffer): boolean {
    this.pending = null
    x.bytesIn += bytes.length
    x.handler?.body(bytes)
    return true
  }
}
