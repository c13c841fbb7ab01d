// An origin of HTTP/2 that sends exactly the frames that a test says, without TLS.

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { flag, frameType } from '../../src/http2/frames/frames.ts'
import { type HeaderField, HpackDecoder } from '../../src/http2/hpack/decoder.ts'
import {
  data,
  type Frame,
  frame,
  framesOf,
  headers,
  type Pairs,
  preface,
  settings,
  settingsAck,
} from './http2.ts'

/** One connection in the hands of a test. */
export class Http2Wire {
  readonly socket: Socket
  readonly frames: Frame[] = []
  /** Whether the other side has ended. */
  isOver = false
  readonly #decoder = new HpackDecoder()
  #unread: Buffer = Buffer.alloc(0)
  #taken = 0
  #wake: () => void = () => {}
  #isGreeted = false

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => {})
    socket.on('data', bytes => this.#read(bytes as Buffer))
    socket.on('close', () => {
      this.isOver = true
      this.#wake()
    })
  }

  send(...bytes: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(bytes))
  }

  /** Answers a request with a whole response. */
  answer(stream: number, body = '', fields: Pairs = [[':status', '200']]): void {
    if (body === '') return this.send(headers(stream, fields))
    this.send(headers(stream, fields, flag.endHeaders), data(stream, body, flag.endStream))
  }

  /** Waits for the next frame of a type; undefined where the other side ended before. */
  async next(type: number): Promise<Frame | undefined> {
    for (;;) {
      while (this.#taken < this.frames.length) {
        const found = this.frames[this.#taken++]!
        if (found.type === type) return found
      }
      if (this.isOver) return undefined
      await new Promise<void>(resolve => (this.#wake = resolve))
    }
  }

  /** Waits for the next request, and returns its stream; 0 where there is none. */
  async request(): Promise<number> {
    return (await this.next(frameType.headers))?.stream ?? 0
  }

  fieldsOf({ payload }: Frame): [string, string][] {
    const fields: [string, string][] = []
    const sink = { take: ({ name, value }: HeaderField) => void fields.push([name, value]) }
    if (this.#decoder.decode(payload, 0, payload.length, 2 ** 20, sink) === -1)
      throw new Error('no header block')
    return fields
  }

  #read(bytes: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, bytes])
    if (!this.#isGreeted) {
      if (this.#unread.length < preface.length) return
      if (!this.#unread.subarray(0, preface.length).equals(preface)) throw new Error('no preface')
      this.#unread = this.#unread.subarray(preface.length)
      this.#isGreeted = true
    }
    let at = 0
    while (this.#unread.length - at >= 9 && this.#unread.length - at >= 9 + this.#unread.readUIntBE(at, 3))
      at += 9 + this.#unread.readUIntBE(at, 3)
    this.frames.push(...framesOf(this.#unread.subarray(0, at)))
    this.#unread = this.#unread.subarray(at)
    this.#wake()
  }
}

export interface Http2Origin {
  readonly url: string
  readonly wires: readonly Http2Wire[]
}

/** Starts an origin that greets each connection, with these settings unless there are none to be, and follows a script. */
export async function startHttp2Origin(
  t: TestContext,
  script: (wire: Http2Wire, nth: number) => unknown,
  greeting: Buffer | null = settings(),
): Promise<Http2Origin> {
  const wires: Http2Wire[] = []
  const server = createServer(socket => {
    const wire = new Http2Wire(socket)
    if (greeting !== null) wire.send(greeting, settingsAck)
    void script(wire, wires.push(wire) - 1)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const { socket } of wires) socket.destroy()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, wires }
}

/** Returns a frame of many numbers of frames like this one. */
export function many(count: number, one: Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => one))
}

export { data, frame, headers, settings }
