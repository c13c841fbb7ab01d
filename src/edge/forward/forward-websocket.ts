// What follows a 101: bytes of another protocol, passed both ways untouched until one side ends (RFC 9110 section 7.8, RFC 6455).
import { answerBug } from '../answer.ts'
import type { Exchange, Upstream } from '../exchange.ts'
import type { Lease } from '../origin/lease.ts'
import type { TunnelUser } from '../origin/origin-connection.ts'

export class Tunnel implements Upstream, TunnelUser {
  readonly #x: Exchange
  readonly #lease: Lease
  readonly #idle: number
  deadline = Number.POSITIVE_INFINITY

  /** Takes over a connection whose origin has switched protocols; `idle` is ms without a byte either way, 0 for no limit. */
  constructor(x: Exchange, lease: Lease, idle: number) {
    this.#x = x
    this.#lease = lease
    this.#idle = idle
    this.#touch()
  }

  // What the origin sends.

  tunnelData(bytes: Buffer): void {
    this.#touch()
    this.#x.bytesOut += bytes.length
    if (!this.#x.client.write(bytes)) this.#lease.pause()
  }

  tunnelEnd(): void {
    this.#x.upstream = null
    this.#lease.destroy()
    this.#x.client.finish(this.#x)
  }

  originDrained(): void {
    this.#x.client.readBody()
  }

  failed(): void {
    this.tunnelEnd()
  }

  crashed(bug: unknown): void {
    answerBug(this.#x, bug)
  }

  // What the client sends.

  body(bytes: Buffer): void {
    this.#touch()
    if (!this.#lease.write(bytes)) this.#x.client.pauseBody()
  }

  flushBody(): void {}

  bodyEnd(): void {
    this.#lease.endSending()
  }

  clientDrained(): void {
    this.#lease.resume()
  }

  abort(): void {
    this.#lease.destroy()
  }

  expire(): void {
    this.tunnelEnd()
  }

  #touch(): void {
    this.deadline = this.#idle === 0 ? Number.POSITIVE_INFINITY : this.#x.plane.coarseNow + this.#idle
  }
}
