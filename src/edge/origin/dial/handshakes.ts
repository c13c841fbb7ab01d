// The session to resume with an origin, and whether it accepts handshakes at all.

import type { Failure } from '../../../errors/catalogue/origin-failure.ts'

interface FinishedHandshake {
  readonly isReused: boolean
  /** Only after the client's last message (TLS 1.3). */
  readonly isJudgedLate: boolean
}

export class Handshakes {
  /** By a session or a response. */
  #isProven = false
  #session: Buffer | null = null

  get session(): Buffer | null {
    return this.#session
  }

  set session(session: Buffer) {
    this.#session = session
    this.#isProven = true
  }

  responded(): void {
    this.#isProven = true
  }

  /** Whether a connection without a response was refused in the handshake. */
  wasRefused({ isReused, isJudgedLate }: FinishedHandshake, failure: Failure): boolean {
    if (failure.way !== 'handshake_refused') {
      // The alert is never read if the reset interrupts the writing of a body.
      const isAlertLost = failure.cause.syscall === 'write' && !isReused
      return isAlertLost && !this.#isProven && isJudgedLate
    }
    this.#isProven = false
    this.#session = null
    return true
  }
}
