// Reads an HTTP/2 connection at the pace of its address, in turns with others.

import type { Socket } from 'node:net'
import type { ServerSession } from '../../../http2/server/session.ts'
import type { ReadState } from '../../../http2/server/session-user.ts'
import type { Plane } from '../../snapshot/plane.ts'
import type { Http2Account } from './http2-account.ts'
import type { Http2Requests } from './http2-requests.ts'
import type { Http2Turns } from './http2-turns.ts'

interface ReadConnection {
  readonly session: ServerSession<unknown>
  readonly isIndebted: boolean
  /** Must not throw. */
  readOn(work: number): void
}

/** Nothing yet, more than is read in one turn, or a complete read. */
export type ReadProgress = 'silent' | 'busy' | 'proven'

export class Http2Reader {
  progress: ReadProgress = 'silent'
  hasEnded = false
  readonly #connection: ReadConnection
  readonly #socket: Socket
  readonly #plane: Plane
  readonly #requests: Http2Requests
  readonly #account: Http2Account
  readonly #turns: Http2Turns
  #isOutputFull = false

  constructor(
    connection: ReadConnection,
    socket: Socket,
    plane: Plane,
    requests: Http2Requests,
    account: Http2Account,
    turns: Http2Turns,
  ) {
    this.#connection = connection
    this.#socket = socket
    this.#plane = plane
    this.#requests = requests
    this.#account = account
    this.#turns = turns
  }

  receive(bytes: Buffer): void {
    const { session } = this.#connection
    const { address, isIndebted } = this.#account
    if (isIndebted && address.delayOfIndebted > 0) {
      session.keep(bytes)
      return this.#afterRead('more')
    }
    const { work } = this.#turns
    const workBefore = work.left
    this.#afterRead(session.read(bytes, this.#plane.coarseNow))
    this.#charge(workBefore - work.left)
    this.#turns.planAfterRead()
  }

  readOn(work: number): void {
    this.#afterRead(this.#connection.session.readOn(this.#plane.coarseNow, work))
    this.#charge(work - this.#turns.work.left)
  }

  #charge(work: number): void {
    if (this.#account.isIndebted) this.#account.address.charge(work)
  }

  outputSent(): void {
    if (!this.#isOutputFull) return
    this.#isOutputFull = false
    this.#queue()
  }

  #afterRead(state: ReadState): void {
    this.#requests.flush()
    this.#account.chargeAddress()
    this.#account.count()
    if (this.hasEnded) return void this.#socket.pause()
    this.progress = state === 'done' ? 'proven' : 'busy'
    if (state === 'done') return void this.#socket.resume()
    this.#socket.pause()
    if (state === 'more') this.#queue()
    else this.#isOutputFull = true
  }

  #queue(): void {
    const { address } = this.#account
    address.add(this.#connection)
    this.#turns.add(address)
  }
}
