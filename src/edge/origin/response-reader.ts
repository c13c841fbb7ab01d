// Reads the responses on one connection to an origin: heads, interim ones included, and bodies.

import type { Socket } from 'node:net'
import { ownBytes, partInPlace } from '../../net/socket/shared-reads.ts'
import type { OriginFault } from '../../errors/catalogue/origin-failure.ts'
import type { BodyReader } from '../../http1/body/body.ts'
import { endOfHead, mayContinue } from '../../http1/fields/field-lines.ts'
import { RepeatedResponseHead } from '../../http1/heads/repeated-response-head.ts'
import { type ResponseHead, responseBody } from '../../http1/heads/response-head.ts'
import type { Lease } from './lease.ts'

const maxHead = 64 * 1024

/** Before reuse: until the event loop has polled again, or for a while. */
export type Rest = 'none' | 'turn' | 'while'

interface ResponseReaderOwner {
  fail(way: OriginFault): void
}

export class ResponseReader {
  mayReuse = true
  /** Ms, or -1. */
  grantedIdle = -1
  rest: Rest = 'none'
  readonly #owner: ResponseReaderOwner
  readonly #socket: Socket
  readonly #heads = new RepeatedResponseHead()
  #partial: Buffer | null = null
  #body: BodyReader | null = null

  constructor(owner: ResponseReaderOwner, socket: Socket) {
    this.#owner = owner
    this.#socket = socket
  }

  begin(): void {
    this.#body = null
    this.mayReuse = true
  }

  read(lease: Lease, bytes: Buffer): void {
    if (this.#body === null) this.#readHead(lease, bytes)
    else this.#readBody(lease, bytes, 0)
  }

  end(lease: Lease): void {
    if (this.#body === null || this.#body.framing !== 'close') return
    this.#body.end()
    lease.handler.end(null)
  }

  #readHead(lease: Lease, chunk: Buffer): void {
    lease.hasResponseBegun = true
    const partial = this.#partial
    const bytes = partial === null ? chunk : Buffer.concat([partial, chunk])
    const from = partial === null ? 0 : Math.max(0, partial.length - 3)
    this.#partial = null
    let start = 0
    let end = endOfHead(bytes, from)
    while (end !== -1 && this.#body === null) {
      if (end - start > maxHead) return this.#fail('GH_HEAD_TOO_LARGE')
      const head = this.#heads.parse(bytes, start, end)
      if (typeof head === 'string') return this.#fail(head === 'framing' ? 'GH_BAD_FRAMING' : 'GH_BAD_HEAD')
      if (!this.#takeHead(lease, head, bytes, end)) return
      start = end
      if (this.#body === null) end = endOfHead(bytes, start)
    }
    if (this.#body === null) this.#keepPartial(bytes, start)
    else this.#readBody(lease, bytes, start)
  }

  /** False if the rest of this chunk must not be read. */
  #takeHead(lease: Lease, head: ResponseHead, bytes: Buffer, end: number): boolean {
    const handler = lease.handler
    if (head.status === 101) return this.#switch(lease, head, bytes.subarray(end))
    if (head.status < 200) {
      handler.interim(head)
      return lease.isHeld
    }
    const body = responseBody(head, handler.method)
    if (typeof body === 'string') return this.#refuse('GH_BAD_FRAMING')
    // A body that is not allowed would be taken for the next response.
    if (body.framing === 'none' && bytes.length > end && handler.method !== 'HEAD')
      return this.#refuse('GH_BAD_FRAMING')
    // After an early response, the origin may not read the rest of the request.
    const isEarly = lease.phase === 'send' || this.#socket.writableLength > 0
    this.mayReuse = head.keepAlive && body.framing !== 'close' && !isEarly
    this.rest = body.framing === 'none' ? restAfter(head) : 'none'
    lease.phase = 'receive'
    this.#body = body
    this.grantedIdle = head.keepAliveTimeout < 0 ? -1 : head.keepAliveTimeout * 1000
    handler.head(head, body)
    return lease.isHeld
  }

  #switch(lease: Lease, head: ResponseHead, rest: Buffer): boolean {
    const handler = lease.handler
    if (!handler.wantsUpgrade || head.upgrade?.toLowerCase() !== 'websocket' || !handler.acceptsUpgrade(head))
      return this.#refuse('GH_BAD_UPGRADE')
    this.mayReuse = false
    lease.phase = 'receive'
    lease.tunnel = handler.switchProtocols(head)
    if (rest.length > 0 && lease.isHeld) lease.tunnel.tunnelData(ownBytes(rest))
    return false
  }

  #keepPartial(bytes: Buffer, start: number): void {
    const rest = bytes.subarray(start)
    if (rest.length > maxHead) return this.#fail('GH_HEAD_TOO_LARGE')
    if (!mayContinue(rest, 0) || !mayBeHttp(rest)) return this.#fail('GH_BAD_HEAD')
    this.#partial = ownBytes(rest)
  }

  #readBody(lease: Lease, bytes: Buffer, start: number): void {
    const body = this.#body!
    const handler = lease.handler
    let at = start
    while (at < bytes.length && !body.done) {
      at = body.next(bytes, at)
      if (body.to > body.from) {
        const data = partInPlace(bytes, body.from, body.to)
        handler.data(handler.copiesData ? data : ownBytes(data))
      }
      if (!lease.isHeld) return
      if (body.faulty) return this.#fail('GH_BAD_FRAMING')
    }
    if (!body.done) return
    if (at < bytes.length) this.mayReuse = false
    handler.end(body.trailers)
  }

  #fail(way: OriginFault): void {
    this.#owner.fail(way)
  }

  #refuse(way: OriginFault): false {
    this.#owner.fail(way)
    return false
  }
}

/** Longer if the response announces a body that must not come. */
function restAfter({ contentLength, chunked }: ResponseHead): Rest {
  return contentLength > 0 || chunked ? 'while' : 'turn'
}

/** Otherwise another protocol would only fail by timeout. */
function mayBeHttp(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, 7)
  return bytes.toString('latin1', 0, length) === 'HTTP/1.'.slice(0, length)
}
