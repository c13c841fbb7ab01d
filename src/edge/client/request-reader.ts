// Reads heads and bodies in order, and no faster than they are wanted.

import type { Socket } from 'node:net'
import { ownBytes, partInPlace } from '../../net/socket/shared-reads.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { BodyReader } from '../../http1/body/body.ts'
import { type RequestHead, requestBody } from '../../http1/heads/request-head.ts'
import type { HeadFault } from '../../http1/heads/request-line.ts'
import { tooLarge } from '../steps/bound.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { guarded } from '../../base/guarded.ts'
import type { Plane } from '../snapshot/plane.ts'
import { HeadReader } from './head-reader.ts'
import type { Lifetime } from './lifetime.ts'

/** Bytes of further requests that are read ahead during an exchange. */
const maxReadAhead = 64 * 1024
/** Runs of body bytes that are read in one turn; a chunk of one byte counts as one. */
const maxRuns = 2_000

interface RequestReaderOwner {
  readonly exchange: Exchange | null
  begin(head: RequestHead, body: BodyReader, bytes: Buffer): void
  refuse(fault: HeadFault, bytes: Buffer): void
  refuseBody(x: Exchange, refusal: Refusal): void
  bodyDone(x: Exchange): void
  readAfterFin(): void
  crashed(bug: unknown): void
}

export class RequestReader {
  pending: Buffer | null = null
  isBodyWanted = false
  isEnded = false
  isReadPlanned = false
  readonly #owner: RequestReaderOwner
  readonly #socket: Socket
  readonly #plane: Plane
  readonly #lifetime: Lifetime
  readonly #heads = new HeadReader()
  #body: BodyReader | null = null
  #isReading = false

  constructor(owner: RequestReaderOwner, socket: Socket, plane: Plane, lifetime: Lifetime) {
    this.#owner = owner
    this.#socket = socket
    this.#plane = plane
    this.#lifetime = lifetime
  }

  get isCutShort(): boolean {
    if (!this.isEnded || this.isReadPlanned) return false
    const x = this.#owner.exchange
    return x === null ? !this.#isHeldBack : this.isBodyWanted && !x.requestBody.done
  }

  receive(bytes: Buffer): void {
    if (!this.#lifetime.isOpen) return this.#lifetime.receivedAfterClose(bytes.length)
    if (this.pending !== null) this.pending = Buffer.concat([this.pending, bytes])
    else this.pending = bytes
    this.read()
    if (this.pending !== null) this.pending = ownBytes(this.pending)
  }

  /** If a response completes before this returns, the loop continues with the next request. */
  read(): void {
    if (this.#isReading || this.isReadPlanned) return
    this.#isReading = true
    try {
      for (
        let runs = 1;
        this.pending !== null && this.#lifetime.isOpen && this.#readSome(this.pending);
        runs++
      )
        if (this.pending !== null && (this.#owner.exchange === null || runs === maxRuns)) {
          this.#readLater()
          break
        }
      this.#owner.exchange?.handler?.flushBody()
    } catch (bug) {
      this.#owner.crashed(bug)
    }
    this.#isReading = false
    if (this.isEnded) this.#owner.readAfterFin()
  }

  /** Gives other connections a turn: a packet may hold thousands of chunks or refused requests. */
  #readLater(): void {
    this.isReadPlanned = true
    const readOn = () => {
      this.isReadPlanned = false
      this.read()
    }
    setImmediate(guarded(readOn, bug => this.#owner.crashed(bug)))
  }

  #readSome(bytes: Buffer): boolean {
    const x = this.#owner.exchange
    if (x === null) return this.#isHeldBack ? this.#holdBack(bytes) : this.#readHead(bytes)
    if (this.isBodyWanted && !x.requestBody.done) return this.#readBody(x, bytes)
    if (this.isBodyWanted && x.upgrade === 'done') return this.#passOn(x, bytes)
    if (x.requestBody.done) return this.#holdBack(bytes)
    this.#socket.pause()
    return false
  }

  get #isHeldBack(): boolean {
    return this.pending !== null && this.#socket.writableNeedDrain
  }

  #holdBack(bytes: Buffer): false {
    if (bytes.length > maxReadAhead) this.#socket.pause()
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
      this.#owner.refuse(head, bytes)
      return false
    }
    const { end } = this.#heads
    this.pending = end === bytes.length ? null : bytes.subarray(end)
    this.isBodyWanted = false
    this.#body = requestBody(head)
    this.#owner.begin(head, this.#body, bytes)
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
    if (to > from && x.handler !== null) {
      const part = partInPlace(bytes, from, to)
      x.handler.body(x.handler.copiesBody ? part : ownBytes(part))
    }
    if (body.done && this.#owner.exchange === x) this.#bodyDone(x)
    return true
  }

  #refuseBody(x: Exchange, refusal: Refusal): false {
    this.#owner.refuseBody(x, refusal)
    return false
  }

  #bodyDone(x: Exchange): void {
    this.isBodyWanted = false
    // The last bytes may have paused the socket, and only reading detects that the client leaves.
    this.#socket.resume()
    this.#owner.bodyDone(x)
  }

  #passOn(x: Exchange, bytes: Buffer): boolean {
    this.pending = null
    x.bytesIn += bytes.length
    x.handler?.body(ownBytes(bytes))
    return true
  }
}
