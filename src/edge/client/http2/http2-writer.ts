// Writes the output of an HTTP/2 connection once per turn, one write at a time.

import type { Socket } from 'node:net'
import type { ServerSession } from '../../../http2/server/session.ts'
import { guarded } from '../../../base/guarded.ts'
import type { Http2Account } from './http2-account.ts'

interface WritingConnection {
  readonly session: ServerSession<unknown>
  /** Called after each write; `isAll` if there was no more output. */
  wrote(isAll: boolean): void
  /** Must not throw. */
  crashed(bug: unknown): void
}

export class Http2Writer {
  isWriting = false
  readonly #connection: WritingConnection
  readonly #socket: Socket
  readonly #account: Http2Account
  #isFlushPlanned = false

  constructor(connection: WritingConnection, socket: Socket, account: Http2Account) {
    this.#connection = connection
    this.#socket = socket
    this.#account = account
  }

  plan(): void {
    if (this.#isFlushPlanned) return
    this.#isFlushPlanned = true
    setImmediate(this.#flush)
  }

  readonly #flush = guarded(
    () => {
      this.#isFlushPlanned = false
      this.#writeOn()
    },
    bug => this.#connection.crashed(bug),
  )

  readonly #written = guarded(
    () => {
      this.isWriting = false
      this.#writeOn()
    },
    bug => this.#connection.crashed(bug),
  )

  #writeOn(): void {
    this.#account.count()
    if (this.isWriting || this.#socket.destroyed) return
    const bytes = this.#connection.session.takeOutput()
    if (bytes !== null) {
      this.isWriting = true
      this.#socket.write(bytes, () => this.#written())
    }
    this.#connection.wrote(bytes === null)
  }
}
