// A connection that a load balancer opened for a client, until the PROXY header has told which.

import type { Socket } from 'node:net'
import { ignoreErrors } from '../../net/socket/closed-socket.ts'
import { reset } from '../../net/socket/reset.ts'
import type { ProxyFailure } from '../../metrics/counters/edge-metrics.ts'
import type { AnnouncedClient } from '../client/connection.ts'
import { guarded } from '../../base/guarded.ts'
import type { Plane } from '../snapshot/plane.ts'
import { drainTimeout } from './handshake.ts'
import { readProxyHeader } from './proxy-header.ts'

interface ProxiedOwner {
  announced(proxied: ProxiedConnection, client: AnnouncedClient): void
  failed(proxied: ProxiedConnection, failure: ProxyFailure): void
}

export class ProxiedConnection {
  /** The balancer, until the client is known. */
  peer: string
  readonly hasRequested = false
  readonly hasSentHello = false
  readonly isIdle = false
  /** Monotonic ms, for a subsequent TLS handshake too. */
  deadline: number
  readonly socket: Socket
  readonly #plane: Plane
  readonly #owner: ProxiedOwner
  #bytes: Buffer | null = null
  #isOver = false
  readonly #cleanups: (() => void)[] = []

  constructor(socket: Socket, peer: string, plane: Plane, owner: ProxiedOwner) {
    this.socket = socket
    this.peer = peer
    this.#plane = plane
    this.#owner = owner
    this.deadline = plane.coarseNow + plane.snapshot.client.handshakeTimeout
    ignoreErrors(socket)
    this.#on('data', (bytes: Buffer) => this.#receive(bytes))
    this.#on('end', () => this.#fail('closed'))
    this.#on('close', () => this.#fail('closed'))
  }

  sweep(now: number): void {
    if (now >= this.deadline) this.#fail('timeout')
  }

  drain(): void {
    this.deadline = Math.min(this.deadline, this.#plane.coarseNow + drainTimeout)
  }

  goAway(): void {}

  destroy(): void {
    this.#end()
    reset(this.socket)
  }

  #receive(bytes: Buffer): void {
    this.#bytes = this.#bytes === null ? bytes : Buffer.concat([this.#bytes, bytes])
    const header = readProxyHeader(this.#bytes)
    if (header === null) return
    if (typeof header === 'string') return this.#fail(header)
    const { client, length } = header
    const rest = this.#bytes.subarray(length)
    this.#removeListeners()
    this.socket.pause()
    if (rest.length > 0) this.socket.unshift(rest)
    // Ended only now, so that a bug in the owner still ends the connection.
    this.#owner.announced(this, {
      peer: client === null || client === 'local' ? this.peer : client,
      isAnonymous: client === null,
    })
    this.#end()
  }

  #fail(failure: ProxyFailure): void {
    if (this.#isOver) return
    this.destroy()
    this.#owner.failed(this, failure)
  }

  #end(): void {
    this.#isOver = true
    this.#bytes = null
    this.#removeListeners()
  }

  #on<T = void>(event: string, handle: (what: T) => void): void {
    const listener = guarded(handle, this.#crashed)
    this.socket.on(event, listener)
    this.#cleanups.push(() => this.socket.off(event, listener))
  }

  readonly #crashed = (bug: unknown): void => {
    this.#plane.log.error({ err: bug }, 'reading a PROXY header failed: internal error')
    this.#fail('other')
  }

  #removeListeners(): void {
    for (const cleanup of this.#cleanups.splice(0)) cleanup()
  }
}
