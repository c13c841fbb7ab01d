// One open connection to an origin, used by one exchange at a time. It reads answers and tells its user; it decides nothing.
import type { Socket } from 'node:net'
import type { Phase } from '../base/edge-metrics.ts'
import type { BodyReader } from '../http1/body.ts'
import { endOfHead, mayContinue } from '../http1/head.ts'
import { parseResponseHead, type ResponseHead, responseBody } from '../http1/response-head.ts'
import { writeTo } from './body-writer.ts'
import type { Dial } from './dial.ts'
import { guarded } from './guarded.ts'

/** Most bytes that the head of an answer may have; more is 520. */
const LARGEST_HEAD = 64 * 1024

/** Why a connection or its exchange ended badly, where no system call says so. */
export type OriginFault =
  | 'GH_QUEUE_FULL'
  | 'GH_QUEUE_TIMEOUT'
  | 'GH_PROHIBITED_ADDRESS'
  | 'GH_OWN_ADDRESS'
  | 'GH_CONNECT_TIMEOUT'
  | 'GH_HANDSHAKE_TIMEOUT'
  | 'GH_RESPONSE_TIMEOUT'
  | 'GH_WRITE_TIMEOUT'
  | 'GH_IDLE_TIMEOUT'
  | 'GH_TOTAL_TIMEOUT'
  | 'GH_CLOSED'
  | 'GH_BAD_HEAD'
  | 'GH_HEAD_TOO_LARGE'
  | 'GH_BAD_FRAMING'
  | 'GH_BAD_UPGRADE'
  | 'GH_BAD_ANSWER'

/** A failure as the error table reads it: a system, TLS or DNS error, or a fault of ours. */
export interface Failure {
  readonly code?: string
}

/** Who uses the connection for one exchange. */
export interface ConnectionUser {
  readonly method: string
  /** Whether the request asked for a WebSocket, so that a 101 may come. */
  readonly wantsUpgrade: boolean
  /** An interim answer (1xx other than 101). */
  interim(head: ResponseHead): void
  head(head: ResponseHead, body: BodyReader): void
  data(bytes: Buffer): void
  /** All that was read is delivered for now. */
  flushAnswer(): void
  end(trailers: string[] | null): void
  /** The answer was 101: gives who takes the bytes of the other protocol. */
  switched(head: ResponseHead): TunnelUser
  originDrained(): void
  failed(phase: Phase, failure: Failure): void
  /** A bug of ours was met while the answer was read. */
  crashed(bug: unknown): void
}

/** Who uses the connection after a switch of protocols. */
export interface TunnelUser {
  tunnelData(bytes: Buffer): void
  tunnelEnd(): void
  originDrained(): void
  failed(phase: Phase, failure: Failure): void
  crashed(bug: unknown): void
}

/** Who keeps the connection. */
export interface ConnectionOwner {
  closed(connection: OriginConnection): void
  /** Told of a bug of ours that no exchange is behind. */
  crashed(bug: unknown): void
}

export class OriginConnection {
  /** Monotonic ms at which an idle connection is to be closed. */
  deadline = Number.POSITIVE_INFINITY
  /** Whether it has served or waited before, so that its end may only mean that it was idle too long. */
  isReused = false
  /** Ms that the origin grants an idle connection, or -1. */
  grantedIdle = -1
  /** Ms that each phase of its opening took. */
  readonly times: Dial['times']
  /** Where it leads. */
  readonly address: string
  /** Whether the name of the origin leads elsewhere by now, so that no further exchange may have it. */
  isOutdated = false
  /** Whether any byte of the answer has come that its user waits for. */
  hasAnswerBegun = false
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  #phase: Phase = 'send'
  #user: ConnectionUser | null = null
  #tunnel: TunnelUser | null = null
  #partial: Buffer | null = null
  #body: BodyReader | null = null
  #isClosed = false
  #mayReuse = true

  constructor(owner: ConnectionOwner, socket: Socket, { times, address }: Pick<Dial, 'times' | 'address'>) {
    this.#owner = owner
    this.#socket = socket
    this.times = times
    this.address = address
    this.#on('data', (bytes: Buffer) => this.#read(bytes))
    this.#on('end', () => this.#ended())
    this.#on('error', (error: Failure) => this.#failed(error))
    this.#on('close', () => this.#failed({ code: 'GH_CLOSED' }))
    this.#on('drain', () => (this.#tunnel ?? this.#user)?.originDrained())
  }

  /** Gives the connection to an exchange. */
  use(user: ConnectionUser): void {
    this.#user = user
    this.#body = null
    this.#mayReuse = true
    this.hasAnswerBegun = false
    this.#phase = 'send'
    this.deadline = Number.POSITIVE_INFINITY
  }

  /** Takes the connection from its exchange; true when another one may use it. */
  release(): boolean {
    this.#user = null
    this.isReused = true
    // Its last user may have paused it; whatever it says while idle must be heard.
    this.#socket.resume()
    return this.#mayReuse && !this.isOutdated && !this.#isClosed
  }

  write(data: string | Buffer): boolean {
    return writeTo(this.#socket, data)
  }

  cork(): void {
    this.#socket.cork()
  }

  uncork(): void {
    this.#socket.uncork()
  }

  /** Marks the request as sent. */
  wait(): void {
    if (this.#phase === 'send') this.#phase = 'wait'
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Ends the sending half of a tunnel. */
  end(): void {
    this.#socket.end()
  }

  /** Closes at once; its user hears nothing more. */
  destroy(): void {
    this.#user = null
    this.#tunnel = null
    this.#close()
  }

  /** Handles an event of the socket; a bug in that costs the one exchange that the event was for. */
  #on<T = void>(event: string, handle: (what: T) => void): void {
    let user: ConnectionUser | TunnelUser | null = null
    const handleFor = (what: T) => {
      user = this.#tunnel ?? this.#user
      handle(what)
    }
    this.#socket.on(
      event,
      guarded(handleFor, bug => this.#crashed(bug, user)),
    )
  }

  #crashed(bug: unknown, user: ConnectionUser | TunnelUser | null): void {
    this.destroy()
    if (user === null) this.#owner.crashed(bug)
    else user.crashed(bug)
  }

  #read(bytes: Buffer): void {
    if (this.#tunnel !== null) return this.#tunnel.tunnelData(bytes)
    // Bytes that nobody asked for can only be the start of somebody's desynchronisation.
    if (this.#user === null) return this.#close()
    if (this.#body === null) this.#readHead(bytes)
    else this.#readBody(bytes, 0)
    this.#user?.flushAnswer()
  }

  #readHead(chunk: Buffer): void {
    this.hasAnswerBegun = true
    const before = this.#partial
    const bytes = before === null ? chunk : Buffer.concat([before, chunk])
    const from = before === null ? 0 : Math.max(0, before.length - 3)
    this.#partial = null
    let start = 0
    let end = endOfHead(bytes, from)
    while (end !== -1 && this.#body === null) {
      if (end - start > LARGEST_HEAD) return this.#fail('GH_HEAD_TOO_LARGE')
      const head = parseResponseHead(bytes, start, end)
      if (typeof head === 'string') return this.#fail(head === 'framing' ? 'GH_BAD_FRAMING' : 'GH_BAD_HEAD')
      if (!this.#takeHead(head, bytes)) return
      start = end
      if (this.#body === null) end = endOfHead(bytes, start)
    }
    if (this.#body === null) this.#keepPartial(bytes, start)
    else this.#readBody(bytes, start)
  }

  /** Takes one head; false when no further reading of this chunk is wanted. */
  #takeHead(head: ResponseHead, bytes: Buffer): boolean {
    const user = this.#user!
    if (head.status === 101) return this.#switch(head, bytes)
    if (head.status < 200) {
      user.interim(head)
      return this.#user !== null
    }
    const body = responseBody(head, user.method)
    if (typeof body === 'string') return this.#refuse('GH_BAD_FRAMING')
    // A body where none can be: whoever reads on would take it for the next answer.
    if (body.framing === 'none' && bytes.length > head.end && user.method !== 'HEAD')
      return this.#refuse('GH_BAD_FRAMING')
    this.#phase = 'receive'
    this.#body = body
    this.#mayReuse = head.keepAlive && body.framing !== 'close'
    this.grantedIdle = head.keepAliveTimeout < 0 ? -1 : head.keepAliveTimeout * 1000
    user.head(head, body)
    return this.#user !== null
  }

  #switch(head: ResponseHead, bytes: Buffer): boolean {
    const user = this.#user!
    if (!user.wantsUpgrade || head.upgrade?.toLowerCase() !== 'websocket')
      return this.#refuse('GH_BAD_UPGRADE')
    this.#mayReuse = false
    this.#phase = 'receive'
    this.#user = null
    this.#tunnel = user.switched(head)
    if (bytes.length > head.end) this.#tunnel.tunnelData(bytes.subarray(head.end))
    return false
  }

  #keepPartial(bytes: Buffer, start: number): void {
    const rest = bytes.subarray(start)
    if (rest.length > LARGEST_HEAD) return this.#fail('GH_HEAD_TOO_LARGE')
    if (!mayContinue(rest, 0) || !mayBeHttp(rest)) return this.#fail('GH_BAD_HEAD')
    this.#partial = rest
  }

  #readBody(bytes: Buffer, start: number): void {
    const body = this.#body!
    let at = start
    while (at < bytes.length && !body.done) {
      at = body.next(bytes, at)
      if (body.to > body.from)
        this.#user!.data(
          body.from === 0 && body.to === bytes.length ? bytes : bytes.subarray(body.from, body.to),
        )
      if (this.#user === null) return
      if (body.faulty) return this.#fail('GH_BAD_FRAMING')
    }
    if (!body.done) return
    if (at < bytes.length) this.#mayReuse = false
    this.#user!.end(body.trailers)
  }

  #ended(): void {
    this.#mayReuse = false
    if (this.#tunnel !== null) return this.#tunnel.tunnelEnd()
    const body = this.#body
    if (this.#user !== null && body !== null && body.framing === 'close') {
      body.end()
      this.#user.end(null)
    }
    this.#failed({ code: 'GH_CLOSED' })
  }

  #fail(fault: OriginFault): void {
    this.#failed({ code: fault })
  }

  /** `#fail` for places that answer whether to read on. */
  #refuse(fault: OriginFault): false {
    this.#fail(fault)
    return false
  }

  #failed(failure: Failure): void {
    if (this.#isClosed) return
    const user = this.#tunnel ?? this.#user
    this.destroy()
    user?.failed(this.#phase, failure)
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket.destroy()
    this.#owner.closed(this)
  }
}

/** Whether the first bytes of an unfinished head still agree with `HTTP/1.`, so that a peer of another protocol fails at once and not by timeout. */
function mayBeHttp(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, 7)
  return bytes.toString('latin1', 0, length) === 'HTTP/1.'.slice(0, length)
}
