// One end of a TCP connection in the hands of a test: any bytes out, HTTP messages in as they stand on the wire, and how the other side ended.

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { TLSSocket } from 'node:tls'
import { reset } from '../../src/net/socket/reset.ts'

export type Ending = 'FIN' | 'RST'

/** A received message; the body is decoded, everything else is as it came. */
export class Message {
  readonly startLine: string
  readonly lines: readonly string[]
  body: Buffer = Buffer.alloc(0)
  trailers: readonly string[] = []

  constructor(head: string) {
    const [startLine = '', ...lines] = head.slice(0, -4).split('\r\n')
    this.startLine = startLine
    this.lines = lines
  }

  get status(): number {
    return Number(/^HTTP\/1\.[01] (\d{3}) /.exec(this.startLine)?.[1])
  }

  get target(): string {
    return this.startLine.split(' ')[1]!
  }

  get text(): string {
    return this.body.toString('latin1')
  }

  /** Gives the values of a field, one per line. */
  all(name: string): string[] {
    const start = `${name.toLowerCase()}:`
    const lines = this.lines.filter(line => line.toLowerCase().startsWith(start))
    return lines.map(line => line.slice(start.length).trim())
  }

  /** Gives the value of a field that comes once; null when it does not come. */
  field(name: string): string | null {
    const values = this.all(name)
    assert.ok(values.length < 2, `${name} comes once`)
    return values[0] ?? null
  }
}

/** The connection ended before it brought what a test waited for. */
export class Ended extends Error {}

/** Ms that anything awaited may take before the test fails with what came instead. */
const PATIENCE = 60_000

/** As they are before a test mocks them. */
const { setTimeout: timer, clearTimeout: clear } = globalThis

export class Wire {
  readonly socket: Socket
  /** Settles when the other side has ended, with how it did. */
  readonly ending: Promise<Ending>
  /** Bytes received so far, read or not. */
  bytesReceived = 0
  #chunks: Buffer[] = []
  #unread = 0
  #ended = false
  #isWithin = false
  readonly #news = new EventEmitter().setMaxListeners(50)

  constructor(socket: Socket) {
    const { promise, resolve } = Promise.withResolvers<Ending>()
    this.socket = socket
    this.ending = promise
    socket.on('data', (bytes: Buffer) => this.#take(bytes))
    socket.on('end', () => resolve('FIN'))
    socket.on('error', () => resolve('RST'))
    socket.on('close', () => resolve('FIN'))
    promise.then(() => {
      this.#ended = true
      this.#news.emit('news')
    })
  }

  /** Sends text as latin1, or bytes; settles when the kernel has taken them, or never will. */
  async send(data: string | Buffer): Promise<void> {
    await new Promise<unknown>(resolve => this.socket.write(data, 'latin1', resolve))
  }

  /** Sends on and on until the other side has taken nothing for a while, or 256 MiB; tells how many bytes were handed over. */
  async pour(piece: Buffer = Buffer.alloc(256 * 1024)): Promise<number> {
    let poured = 0
    while (poured < 256 * 1024 * 1024) {
      poured += piece.length
      if (this.socket.write(piece)) continue
      const drained = await once(this.socket, 'drain', { signal: AbortSignal.timeout(300) }).catch(() => null)
      if (drained === null) break
    }
    return poured
  }

  /** Closes the sending half. */
  finish(): void {
    this.socket.end()
  }

  /** Closes both halves, as a program that exits does. */
  leave(): void {
    this.socket.destroy()
  }

  /** Resets the connection; one behind TLS can only be closed without a word of that. */
  reset(): void {
    if (this.socket instanceof TLSSocket) this.socket.destroy()
    else reset(this.socket)
  }

  /** Gives the bytes up to and with the marker. */
  async until(marker: string): Promise<string> {
    const at = await this.#wait(marker, () => this.#joined().indexOf(marker, 0, 'latin1') + 1 || null)
    return (await this.bytes(at - 1 + marker.length)).toString('latin1')
  }

  /** Gives exactly so many bytes. */
  async bytes(length: number): Promise<Buffer> {
    await this.#wait(`${length} bytes`, () => this.#unread >= length || null)
    const all = this.#joined()
    this.#chunks = [all.subarray(length)]
    this.#unread -= length
    return all.subarray(0, length)
  }

  /** Gives all that still comes until the other side ends. */
  async rest(): Promise<string> {
    await this.#wait('the end', () => this.#ended || null)
    return (await this.bytes(this.#unread)).toString('latin1')
  }

  /** Gives what has come and was not read. */
  get unread(): string {
    return this.#joined().toString('latin1')
  }

  /** Reads a request with its body; fails where it does not begin as one, since then something strayed behind the one before. */
  async request(): Promise<Message> {
    const message = await this.head()
    assert.match(message.startLine, /^[!-~]+ [!-~\x80-\xff]+ HTTP\/1\.1$/, 'a request begins with its line')
    this.#isWithin = true
    await this.body(message, false)
    this.#isWithin = false
    return message
  }

  /** What has come and belongs to no request that is being read. */
  get stray(): string {
    return this.#isWithin ? '' : this.unread
  }

  /** Reads a final or interim response with its body; `method` is what it answers. */
  async response(method = 'GET'): Promise<Message> {
    const message = await this.head()
    const hasBody = method !== 'HEAD' && message.status >= 200 && ![204, 304].includes(message.status)
    if (hasBody) await this.body(message, true)
    return message
  }

  async head(): Promise<Message> {
    return new Message(await this.until('\r\n\r\n'))
  }

  /** Reads the body of a message by its framing; without any it goes to the end of the connection or is empty. */
  async body(message: Message, toEnd: boolean): Promise<void> {
    const length = message.field('content-length')
    const coding = message.field('transfer-encoding')
    assert.ok(length === null || coding === null, 'a body is framed once')
    if (coding !== null) await this.#chunkedBody(message)
    else if (length !== null) message.body = await this.bytes(Number(length))
    else if (toEnd) message.body = Buffer.from(await this.rest(), 'latin1')
  }

  async #chunkedBody(message: Message): Promise<void> {
    const chunks: Buffer[] = []
    for (;;) {
      const size = Number.parseInt(await this.until('\r\n'), 16)
      if (size === 0) break
      chunks.push(await this.bytes(size))
      assert.equal((await this.bytes(2)).toString(), '\r\n')
    }
    const trailers: string[] = []
    for (let line = await this.until('\r\n'); line !== '\r\n'; line = await this.until('\r\n'))
      trailers.push(line.trimEnd())
    message.body = Buffer.concat(chunks)
    message.trailers = trailers
  }

  #take(bytes: Buffer): void {
    this.#chunks.push(bytes)
    this.#unread += bytes.length
    this.bytesReceived += bytes.length
    this.#news.emit('news')
  }

  #joined(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0]!
  }

  async #wait<T>(what: string, look: () => T | null): Promise<T> {
    let found = look()
    if (found !== null) return found
    let isLate = false
    // A signal that is aborted by its own timer costs more than all else of a wait.
    const lateness = timer(() => {
      isLate = true
      this.#news.emit('news')
    }, PATIENCE).unref()
    try {
      for (; found === null; found = look()) {
        const soFar = () => JSON.stringify(this.unread.slice(-2_000))
        if (this.#ended)
          throw new Ended(`the connection ended before ${JSON.stringify(what)}, after ${soFar()}`)
        if (isLate) assert.fail(`${JSON.stringify(what)} did not come within ${PATIENCE} ms, but ${soFar()}`)
        await new Promise<void>(resolve => this.#news.once('news', resolve))
      }
      return found
    } finally {
      clear(lateness)
    }
  }
}

/** Connects to a port of this machine, from loopback address `from` if given. */
export async function connectTo(t: TestContext, port: number, from = '127.0.0.1'): Promise<Wire> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true, noDelay: true })
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return new Wire(socket)
}

/** Writes a request to site.test: `request('GET /', 'Accept: text/html')`. */
export function request(line: string, ...fields: string[]): string {
  return `${[`${line} HTTP/1.1`, 'Host: site.test', ...fields].join('\r\n')}\r\n\r\n`
}

/** Writes a request to site.test with a body and its length. */
export function post(target: string, body: string, ...fields: string[]): string {
  return `${request(`POST ${target}`, ...fields, `Content-Length: ${body.length}`)}${body}`
}

/** Writes text as chunks of a chunked body, without the last chunk. */
export function chunks(...texts: string[]): string {
  return texts.map(text => `${text.length.toString(16)}\r\n${text}\r\n`).join('')
}
