// Reads what an origin sends on one connection: the heads of its responses, interim ones too, and their bodies.

import type { Socket } from 'node:net'
import type { OriginFault } from '../../errors/catalogue/origin-failure.ts'
import type { BodyReader } from '../../http1/body/body.ts'
import { endOfHead, mayContinue } from '../../http1/fields/field-lines.ts'
import { parseResponseHead, type ResponseHead, responseBody } from '../../http1/heads/response-head.ts'
import type { Lease } from './lease.ts'

/** Most bytes that the head of a response may have; more is 520. */
const largestHead = 64 * 1024

/** How long a connection is listened to before it serves again: not at all, until the loop has polled once more, or for a while. */
export type Rest = 'none' | 'turn' | 'while'

/** Whose bytes are read. */
interface ResponseTaker {
  /** The connection can't go on. */
  fail(way: OriginFault): void
}

export class ResponseReader {
  /** Whether another request may follow the one that is under way. */
  mayReuse = true
  /** Ms that the origin grants an idle connection, or -1. */
  grantedIdle = -1
  rest: Rest = 'none'
  readonly #taker: ResponseTaker
  readonly #socket: Socket
  #partial: Buffer | null = null
  /** Of the final response; null before its head. */
  #body: BodyReader | null = null

  constructor(taker: ResponseTaker, socket: Socket) {
    this.#taker = taker
    this.#socket = socket
  }

  /** Takes what follows for the response to a new request. */
  begin(): void {
    this.#body = null
    this.mayReuse = true
  }

  read(lease: Lease, bytes: Buffer): void {
    if (this.#body === null) this.#readHead(lease, bytes)
    else this.#readBody(lease, bytes, 0)
  }

  /** Ends a body that lasts as long as its connection; nothing where there is none such. */
  end(lease: Lease): void {
    if (this.#body === null || this.#body.framing !== 'close') return
    this.#body.end()
    lease.handler.end(null)
  }

  #readHead(lease: Lease, chunk: Buffer): void {
    lease.hasResponseBegun = true
    const before = this.#partial
    const bytes = before === null ? chunk : Buffer.concat([before, chunk])
    const from = before === null ? 0 : Math.max(0, before.length - 3)
    this.#partial = null
    let start = 0
    let end = endOfHead(bytes, from)
    while (end !== -1 && this.#body === null) {
      if (end - start > largestHead) return this.#fail('GH_HEAD_TOO_LARGE')
      const head = parseResponseHead(bytes, start, end)
      if (typeof head === 'string') return this.#fail(head === 'framing' ? 'GH_BAD_FRAMING' : 'GH_BAD_HEAD')
      if (!this.#takeHead(lease, head, bytes)) return
      start = end
      if (this.#body === null) end = endOfHead(bytes, start)
    }
    if (this.#body === null) this.#keepPartial(bytes, start)
    else this.#readBody(lease, bytes, start)
  }

  /** Takes one head; false when no further reading of this chunk is wanted. */
  #takeHead(lease: Lease, head: ResponseHead, bytes: Buffer): boolean {
    const handler = lease.handler
    if (head.status === 101) return this.#switch(lease, head, bytes)
    if (head.status < 200) {
      handler.interim(head)
      return lease.isHeld
    }
    const body = responseBody(head, handler.method)
    if (typeof body === 'string') return this.#refuse('GH_BAD_FRAMING')
    // A body where none is allowed: read on, it would pass for the next response.
    if (body.framing === 'none' && bytes.length > head.end && handler.method !== 'HEAD')
      return this.#refuse('GH_BAD_FRAMING')
    // A response to half a request leaves open what the origin makes of the rest.
    const isEarly = lease.phase === 'send' || this.#socket.writableLength > 0
    this.mayReuse = head.keepAlive && body.framing !== 'close' && !isEarly
    this.rest = body.framing === 'none' ? restAfter(head) : 'none'
    lease.phase = 'receive'
    this.#body = body
    this.grantedIdle = head.keepAliveTimeout < 0 ? -1 : head.keepAliveTimeout * 1000
    handler.head(head, body)
    return lease.isHeld
  }

  #switch(lease: Lease, head: ResponseHead, bytes: Buffer): boolean {
    const handler = lease.handler
    if (!handler.wantsUpgrade || head.upgrade?.toLowerCase() !== 'websocket' || !handler.completes(head))
      return this.#refuse('GH_BAD_UPGRADE')
    this.mayReuse = false
    lease.phase = 'receive'
    lease.tunnel = handler.switched(head)
    if (bytes.length > head.end && lease.isHeld) lease.tunnel.tunnelData(bytes.subarray(head.end))
    return false
  }

  #keepPartial(bytes: Buffer, start: number): void {
    const rest = bytes.subarray(start)
    if (rest.length > largestHead) return this.#fail('GH_HEAD_TOO_LARGE')
    if (!mayContinue(rest, 0) || !mayBeHttp(rest)) return this.#fail('GH_BAD_HEAD')
    this.#partial = rest
  }

  #readBody(lease: Lease, bytes: Buffer, start: number): void {
    const body = this.#body!
    const handler = lease.handler
    let at = start
    while (at < bytes.length && !body.done) {
      at = body.next(bytes, at)
      if (body.to > body.from)
        handler.data(body.from === 0 && body.to === bytes.length ? bytes : bytes.subarray(body.from, body.to))
      if (!lease.isHeld) return
      if (body.faulty) return this.#fail('GH_BAD_FRAMING')
    }
    if (!body.done) return
    if (at < bytes.length) this.mayReuse = false
    handler.end(body.trailers)
  }

  #fail(way: OriginFault): void {
    this.#taker.fail(way)
  }

  /** `#fail` for places that return whether to read on. */
  #refuse(way: OriginFault): false {
    this.#taker.fail(way)
    return false
  }
}

/** Returns how long to listen for a body that must not come: the longer where the response announces one. */
function restAfter({ contentLength, chunked }: ResponseHead): Rest {
  return contentLength > 0 || chunked ? 'while' : 'turn'
}

/** Whether the first bytes of an unfinished head still agree with `HTTP/1.`, so that a peer of another protocol fails at once and not by timeout. */
function mayBeHttp(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, 7)
  return bytes.toString('latin1', 0, length) === 'HTTP/1.'.slice(0, length)
}
