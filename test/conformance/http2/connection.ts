// One connection of HTTP/2 in the hands of a case: frames out as the case says, frames in as they come.

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { flag, frameType, setting } from '../../../src/http2/frames/frames.ts'
import { type HeaderField, HpackDecoder } from '../../../src/http2/hpack/decoder.ts'
import { HeldWriteError } from '../../../src/net/socket/held-write-error.ts'
import { type Frame, frame, framesOf, preface, settings, settingsAck } from '../../help/http2.ts'
import { type Address, awake, dial } from '../dial.ts'
import { Patience } from '../patience.ts'
import { type Field, block } from './hpack.ts'

/** Fields of a message, in lower case, in the order in which they came. */
export type Fields = readonly (readonly [name: string, value: string])[]

/** What came on a stream. */
export interface Received {
  /** Header sections, the interim responses and trailers among them. */
  readonly sections: readonly Fields[]
  readonly body: Buffer
  readonly isOver: boolean
  /** The code of its RST_STREAM; null without one. */
  readonly code: number | null
}

export const whole: number = flag.endHeaders | flag.endStream

export class Connection {
  readonly frames: Frame[] = []
  readonly scheme: 'http' | 'https'
  isClosed = false
  /** What TLS has agreed on; null without it. */
  protocol: string | false | null = null
  /** What broke, where the peer sends what is no HTTP/2. */
  flaw: string | null = null
  readonly patience: Patience
  readonly #socket: Socket
  readonly #sections = new Map<Frame, Fields>()
  #decoder: HpackDecoder
  #unread: Buffer = Buffer.alloc(0)
  #blockOf: Frame[] = []
  #isBlockOpen = false
  #prefaceLeft = 0

  private constructor(socket: Socket, scheme: 'http' | 'https', patience: Patience) {
    this.#socket = socket
    this.patience = patience
    this.#decoder = new HpackDecoder()
    this.scheme = scheme
    // A peer that is still sent something as it closes has said why before.
    new HeldWriteError(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('data', bytes => this.#read(bytes as Buffer))
    socket.on('end', () => this.#close())
    socket.on('close', () => this.#close())
  }

  /** Opens a connection on which nothing is sent yet. */
  static async open(address: Address, offered: readonly string[] = ['h2']): Promise<Connection> {
    const socket = dial(address, offered)
    const patience = new Patience(() => awake(address))
    const connection = new Connection(socket, address.tls ? 'https' : 'http', patience)
    await connection.#event(address.tls ? 'secureConnect' : 'connect')
    if (socket instanceof TLSSocket) connection.protocol = socket.alpnProtocol
    return connection
  }

  /** Takes a connection of a client, after the preface of which its frames follow; `awake` is that of `Patience`. */
  static accept(socket: Socket, awake: () => Promise<unknown>): Connection {
    const connection = new Connection(socket, 'http', new Patience(awake))
    connection.#prefaceLeft = preface.length
    return connection
  }

  /** Opens a connection, and exchanges SETTINGS on it. */
  static async greeted(
    address: Address,
    ...pairs: readonly (readonly [number, number])[]
  ): Promise<Connection> {
    const connection = await Connection.open(address)
    connection.send(preface, settings(...pairs))
    await connection.until(() => connection.has(frameType.settings, 0, 0))
    connection.send(settingsAck)
    await connection.until(() => connection.has(frameType.settings, flag.ack, 0))
    return connection
  }

  /** Fields of a request for `/` of the site. */
  fields(method = 'GET', path = '/'): Field[] {
    return [
      [':method', method],
      [':scheme', this.scheme],
      [':path', path],
      [':authority', 'site.test'],
    ]
  }

  send(...bytes: readonly Buffer[]): void {
    for (const sent of bytes) this.#remember(sent)
    if (!this.isClosed) this.#socket.write(Buffer.concat(bytes))
  }

  /** Sends bytes that are no frames. */
  sendRaw(bytes: Buffer | string): void {
    if (!this.isClosed) this.#socket.write(bytes)
  }

  /** Sends HEADERS in one frame. */
  headers(stream: number, fields: readonly Field[], flags: number = whole): void {
    this.send(frame(frameType.headers, flags, stream, block(...fields)))
  }

  /** Sends a request without a body. */
  get(stream: number, path = '/', ...more: readonly Field[]): void {
    this.headers(stream, [...this.fields('GET', path), ...more])
  }

  /** Begins a request whose body follows. */
  post(stream: number, path = '/echo', ...more: readonly Field[]): void {
    this.headers(stream, [...this.fields('POST', path), ...more], flag.endHeaders)
  }

  has(type: number, flags: number, stream: number): boolean {
    return this.frames.some(sent => sent.type === type && sent.flags === flags && sent.stream === stream)
  }

  /** Waits until something holds, and returns whether it does: the connection may end, or nothing more come. */
  async until(holds: () => boolean, ms?: number): Promise<boolean> {
    return this.patience.until(() => holds() || this.isClosed || this.flaw !== null, ms).then(holds)
  }

  /** Waits until the peer has read all that was sent, as the reply to a PING shows. */
  async settled(): Promise<boolean> {
    const payload = Buffer.alloc(8)
    payload.writeUInt32BE(this.frames.length, 0)
    payload.writeUInt32BE(++this.#pings, 4)
    this.send(frame(frameType.ping, 0, 0, payload))
    const isReply = ({ type, flags, payload: got }: Frame) =>
      type === frameType.ping && flags === flag.ack && got.equals(payload)
    return this.until(() => this.frames.some(isReply))
  }
  #pings = 0

  /** What has come that is no frame, in latin1. */
  get received(): string {
    return this.#unread.toString('latin1')
  }

  /** Whether a header block has begun that is not whole: then a PING would be a fault of its own. */
  get isWithinBlock(): boolean {
    return this.#isBlockOpen
  }

  /** What came on a stream so far. */
  on(stream: number): Received {
    const frames = this.frames.filter(sent => sent.stream === stream)
    const reset = frames.find(({ type }) => type === frameType.rstStream)
    const ends = ({ type, flags }: Frame) =>
      (type === frameType.data || type === frameType.headers) && (flags & flag.endStream) !== 0
    return {
      sections: frames.flatMap(sent => (this.#sections.has(sent) ? [this.#sections.get(sent)!] : [])),
      body: Buffer.concat(frames.flatMap(sent => (sent.type === frameType.data ? [contentOf(sent)] : []))),
      isOver: frames.some(ends),
      code: reset === undefined ? null : reset.payload.readUInt32BE(0),
    }
  }

  /** Waits for the end of a response, and returns it. */
  async response(stream = 1): Promise<Received> {
    await this.until(() => {
      const { isOver, code } = this.on(stream)
      return isOver || code !== null || this.goAway !== null
    })
    return this.on(stream)
  }

  /** The code of the GOAWAY that says why the connection ends; null without one, or if there is no fault. */
  get goAway(): number | null {
    const frames = this.frames.filter(({ type }) => type === frameType.goAway)
    const codes = frames.map(({ payload }) => payload.readUInt32BE(4)).filter(code => code !== 0)
    return codes.at(-1) ?? null
  }

  /** What the peer has set, or the default. */
  settingOf(id: number, otherwise: number): number {
    let value = otherwise
    for (const { type, flags, payload } of this.frames)
      if (type === frameType.settings && flags === 0)
        for (let at = 0; at < payload.length; at += 6)
          if (payload.readUInt16BE(at) === id) value = payload.readUInt32BE(at + 2)
    return value
  }

  /** The largest frame that the peer takes. */
  get maxFrame(): number {
    return this.settingOf(setting.maxFrameSize, 16_384)
  }

  /** Follows a change of its table that the peer must announce. */
  limitTable(): void {
    this.#decoder = new HpackDecoder()
  }

  close(): void {
    this.patience.end()
    this.#socket.destroy()
  }

  async #event(name: string): Promise<void> {
    let isThere = false
    this.#socket.once(name, () => {
      isThere = true
      this.patience.wake()
    })
    await this.patience.until(() => isThere || this.isClosed)
  }

  #remember(bytes: Buffer): void {
    if (bytes.subarray(0, 3).toString('latin1') === 'PRI') return
    const last = framesOf(bytes).findLast(
      ({ type }) => type === frameType.headers || type === frameType.continuation,
    )
    if (last !== undefined) this.#isBlockOpen = (last.flags & flag.endHeaders) === 0
  }

  #read(bytes: Buffer): void {
    const all = Buffer.concat([this.#unread, bytes])
    let at = this.#readPreface(all)
    while (all.length - at >= 9 && all.length - at >= 9 + all.readUIntBE(at, 3)) {
      const end = at + 9 + all.readUIntBE(at, 3)
      this.#take(framesOf(all.subarray(at, end))[0]!)
      at = end
    }
    this.#unread = all.subarray(at)
    this.patience.wake()
  }

  #readPreface(bytes: Buffer): number {
    if (this.#prefaceLeft === 0 || bytes.length < preface.length) return 0
    if (!bytes.subarray(0, preface.length).equals(preface)) this.flaw = 'no preface'
    this.#prefaceLeft = 0
    return preface.length
  }

  #take(received: Frame): void {
    this.frames.push(received)
    const { type, flags } = received
    if (type !== frameType.headers && type !== frameType.continuation) return
    this.#blockOf.push(received)
    if ((flags & flag.endHeaders) === 0) return
    const bytes = Buffer.concat(this.#blockOf.map(contentOf))
    const fields: [string, string][] = []
    const sink = { take: ({ name, value }: HeaderField) => void fields.push([name, value]) }
    if (this.#decoder.decode(bytes, 0, bytes.length, 2 ** 20, sink) === -1) this.flaw = 'no header block'
    this.#sections.set(this.#blockOf[0]!, fields)
    this.#blockOf = []
  }

  #close(): void {
    this.isClosed = true
    this.patience.wake()
  }
}

/** The bytes of a frame that came from the peer without its padding and priority. */
function contentOf({ type, flags, payload }: Frame): Buffer {
  if (type === frameType.continuation) return payload
  const isPadded = (flags & flag.padded) !== 0
  const priority = type === frameType.headers && (flags & flag.priority) !== 0 ? 5 : 0
  const from = (isPadded ? 1 : 0) + priority
  return payload.subarray(from, payload.length - (isPadded ? payload[0]! : 0))
}

/** The status of a response; 0 where there is none. Interim responses do not count. */
export function statusOf({ sections }: Received): number {
  const statuses = sections.map(fields => Number(firstValue(fields, ':status') ?? 0))
  return statuses.find(status => status >= 200) ?? 0
}

/** The first value of a field. */
export function firstValue(fields: Fields, name: string): string | null {
  return fields.find(([other]) => other === name)?.[1] ?? null
}
