// What handshakes with an origin have shown: the TLS session that the next one may resume, and whether the origin accepts ours at all.

import type { Failure } from '../../../errors/catalogue/origin-failure.ts'

/** What counts of a connection. */
interface Shaken {
  /** Whether it has served or waited before. */
  readonly isReused: boolean
  /** Whether its server accepts or refuses the handshake only after our part of it (TLS 1.3). */
  readonly isProvenLate: boolean
}

export class Handshakes {
  /** Whether the origin has accepted a handshake of ours for certain: it sent a session for it, or a response. */
  #isProven = false
  #session: Buffer | null = null

  /** The session of an earlier connection; null where there is none to resume. */
  get session(): Buffer | null {
    return this.#session
  }

  set session(session: Buffer) {
    this.#session = session
    this.#isProven = true
  }

  /** Takes note of a response that came whole. */
  responded(): void {
    this.#isProven = true
  }

  /** Whether a connection that failed before a response began did so since its origin refused the handshake. */
  wasRefused({ isReused, isProvenLate }: Shaken, failure: Failure): boolean {
    if (failure.way !== 'handshake_refused') {
      // What it has against the handshake is never read where a body is still being written as it resets.
      const isUnheard = failure.cause.syscall === 'write' && !isReused
      return isUnheard && !this.#isProven && isProvenLate
    }
    this.#isProven = false
    this.#session = null
    return true
  }
}
