// A session of HTTP/2 without a socket: frames in by hand, frames out as records, and what its user was told.

import type { RequestHead } from '../../src/http1/heads/request-head.ts'
import type { HeadFault } from '../../src/http1/heads/request-line.ts'
import { Budgets } from '../../src/http2/server/budget.ts'
import { errorCode, flag, frameType } from '../../src/http2/frames/frames.ts'
import { type HeaderField, HpackDecoder } from '../../src/http2/hpack/decoder.ts'
import { ServerSession } from '../../src/http2/server/session.ts'
import type {
  ReadState,
  SessionFault,
  SessionUser,
  StreamFault,
} from '../../src/http2/server/session-user.ts'
import type { Stream } from '../../src/http2/server/stream.ts'
import { TurnWork } from '../../src/http2/frames/turn-work.ts'

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/** A frame as it was sent. */
export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** What a request came to, as its owner saw it. */
export interface Request {
  readonly stream: Stream<Request>
  readonly head: RequestHead
  readonly fault: HeadFault | null
  body: string
  isOver: boolean
  trailers: readonly string[] | null
  aborted: StreamFault | null
  drained: number
}

export function frame(type: number, flags: number, stream: number, payload: Buffer | string = ''): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload
  const head = Buffer.alloc(9)
  head.writeUIntBE(bytes.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, bytes])
}

/** Writes fields as literals that no table keeps; lengths below 127 only. */
export function block(...fields: readonly (readonly [name: string, value: string])[]): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')])
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]))
}

export type Pairs = readonly (readonly [name: string, value: string])[]

export const get: Pairs = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', 'shop.example'],
]
export const post: Pairs = [[':method', 'POST'], ...get.slice(1)]

export function headers(
  stream: number,
  fields: Pairs = get,
  flags: number = flag.endHeaders | flag.endStream,
): Buffer {
  return frame(frameType.headers, flags, stream, block(...fields))
}

export function data(stream: number, payload: Buffer | string, flags = 0): Buffer {
  return frame(frameType.data, flags, stream, payload)
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export function windowUpdate(stream: number, increment: number): Buffer {
  return frame(frameType.windowUpdate, 0, stream, uint32(increment))
}

export function rstStream(stream: number, code: number = errorCode.cancel): Buffer {
  return frame(frameType.rstStream, 0, stream, uint32(code))
}

export function settings(...pairs: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = pairs.map(([id, value]) => Buffer.concat([Buffer.from([id >> 8, id]), uint32(value)]))
  return frame(frameType.settings, 0, 0, Buffer.concat(payload))
}

export const settingsAck: Buffer = frame(frameType.settings, flag.ack, 0)
export const ping: Buffer = frame(frameType.ping, 0, 0, '12345678')

/** Cuts bytes into the frames that they are. */
export function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUIntBE(at, 3)
    frames.push({
      type: bytes[at + 3]!,
      flags: bytes[at + 4]!,
      stream: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + 9, at + 9 + length),
    })
    at += 9 + length
  }
  return frames
}

export class Peer implements SessionUser<Request> {
  readonly limits: { url: number; headerSection: number; headers: number } = {
    url: 1000,
    headerSection: 16_384,
    headers: 100,
  }
  readonly headTimeout = 10_000
  readonly requests: Request[] = []
  /** Why the session failed. */
  fault: SessionFault | null = null
  outputs = 0
  now = 0
  readonly session: ServerSession<Request>
  /** What is done with each request when it has begun. */
  onBegin: (request: Request) => void = () => {}
  readonly #decoder = new HpackDecoder()

  constructor(maxConcurrentStreams = 128, work = new TurnWork()) {
    this.session = new ServerSession<Request>(this, { maxConcurrentStreams }, 0, new Budgets(0), work)
  }

  /** Greets and reads what the session begins with. */
  static greeted(maxConcurrentStreams?: number): Peer {
    const peer = new Peer(maxConcurrentStreams)
    peer.send(preface, settings(), settingsAck)
    peer.frames()
    return peer
  }

  /** Sends bytes that are read in a turn of their own. */
  send(...bytes: readonly Buffer[]): ReadState {
    this.session.readOn(this.now)
    return this.session.read(Buffer.concat(bytes), this.now)
  }

  /** Takes all that the session has to send. */
  frames(): Frame[] {
    const taken: Buffer[] = []
    for (let bytes = this.session.takeOutput(); bytes !== null; bytes = this.session.takeOutput())
      taken.push(Buffer.from(bytes))
    return framesOf(Buffer.concat(taken))
  }

  /** Decodes the header block of a frame. */
  fieldsOf(sent: Frame): [string, string][] {
    const fields: [string, string][] = []
    const sink = { take: ({ name, value }: HeaderField) => void fields.push([name, value]) }
    const size = this.#decoder.decode(sent.payload, 0, sent.payload.length, 2 ** 20, sink)
    if (size === -1) throw new Error('not a header block')
    return fields
  }

  begin(stream: Stream<Request>, head: RequestHead, fault: HeadFault | null): void {
    const request: Request = {
      stream,
      head,
      fault,
      body: '',
      isOver: false,
      trailers: null,
      aborted: null,
      drained: 0,
    }
    stream.owner = request
    this.requests.push(request)
    this.onBegin(request)
  }

  body({ owner }: Stream<Request>, bytes: Buffer): void {
    owner!.body += bytes.toString('latin1')
  }

  bodyEnd({ owner }: Stream<Request>, trailers: readonly string[] | null): void {
    owner!.isOver = true
    owner!.trailers = trailers
  }

  aborted({ owner }: Stream<Request>, fault: StreamFault): void {
    owner!.aborted = fault
  }

  drained({ owner }: Stream<Request>): void {
    owner!.drained++
  }

  outputReady(): void {
    this.outputs++
  }

  failed(fault: SessionFault): void {
    this.fault = fault
  }
}

/** Returns the code of a GOAWAY or RST_STREAM among frames: of the connection for stream 0; null where there is none. */
export function codeOf(frames: readonly Frame[], stream: number): number | null {
  const type = stream === 0 ? frameType.goAway : frameType.rstStream
  const found = frames.find(sent => sent.type === type && sent.stream === stream)
  return found === undefined ? null : found.payload.readUInt32BE(stream === 0 ? 4 : 0)
}
