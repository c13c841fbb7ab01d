// The first bytes of a plain-text connection, which decide between HTTP/1 and HTTP/2.

import type { Socket } from 'node:net'
import { canonicalAddress } from '../../net/address/address.ts'
import { ignoreErrors } from '../../net/socket/closed-socket.ts'
import { reset } from '../../net/socket/reset.ts'
import { guarded } from '../../base/guarded.ts'
import type { Plane } from '../snapshot/plane.ts'
import { drainTimeout } from './handshake.ts'

/** RFC 9113 section 3.4; not a valid request of HTTP/1. */
const firstLine = Buffer.from('PRI * HTTP/2.0\r\n', 'latin1')

interface ProtocolSniffOwner {
  /** The socket is paused. */
  detected(sniff: ProtocolSniff, isHttp2: boolean): void
  failed(sniff: ProtocolSniff): void
}

export class ProtocolSniff {
  readonly peer: string
  readonly hasRequested = false
  readonly hasSentHello = false
  readonly isIdle = false
  readonly progress = 'silent'
  readonly #socket: Socket
  readonly #plane: Plane
  readonly #owner: ProtocolSniffOwner
  #deadline: number
  readonly #cleanups: (() => void)[] = []
  #bytes: Buffer | null = null

  /** `proxied` is set if a load balancer announced the client. */
  constructor(
    socket: Socket,
    plane: Plane,
    owner: ProtocolSniffOwner,
    proxied: { readonly peer: string } | null = null,
  ) {
    this.#socket = socket
    this.#plane = plane
    this.#owner = owner
    this.peer = proxied?.peer ?? canonicalAddress(socket.remoteAddress ?? '') ?? ''
    this.#deadline = plane.coarseNow + plane.snapshot.client.headerTimeout
    ignoreErrors(socket)
    this.#on('data', (bytes: Buffer) => this.#receive(bytes))
    this.#on('end', () => this.#fail())
    this.#on('close', () => this.#fail())
  }

  sweep(now: number): void {
    if (now >= this.#deadline) this.#fail()
  }

  drain(): void {
    this.#deadline = Math.min(this.#deadline, this.#plane.coarseNow + drainTimeout)
  }

  goAway(): void {}

  destroy(): void {
    this.#removeListeners()
    reset(this.#socket)
  }

  #receive(bytes: Buffer): void {
    this.#bytes = this.#bytes === null ? bytes : Buffer.concat([this.#bytes, bytes])
    const length = Math.min(this.#bytes.length, firstLine.length)
    const matches = this.#bytes.compare(firstLine, 0, length, 0, length) === 0
    if (matches && length < firstLine.length) return
    const received = this.#bytes
    this.#removeListeners()
    this.#socket.pause()
    this.#socket.unshift(received)
    this.#owner.detected(this, matches)
  }

  #fail(): void {
    this.destroy()
    this.#owner.failed(this)
  }

  #on<T = void>(event: string, handle: (what: T) => void): void {
    const listener = guarded(handle, bug => {
      this.#plane.log.error({ err: bug }, 'client connection failed: internal error')
      this.#fail()
    })
    this.#socket.on(event, listener)
    this.#cleanups.push(() => this.#socket.off(event, listener))
  }

  #removeListeners(): void {
    this.#bytes = null
    for (const cleanup of this.#cleanups.splice(0)) cleanup()
  }
}
