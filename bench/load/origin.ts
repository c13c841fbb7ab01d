// The origin of the bench, run as `origin.ts PORT` in a process of its own: prebuilt answers on plain sockets, so that
// the proxy in front is what a run measures. It reads what proxies send (no chunked requests), not HTTP at large.
import { createServer, type Server, type Socket } from 'node:net'

/** Milliseconds between two events of one stream. */
export const EVENT_INTERVAL = 50

const EMPTY = Buffer.alloc(0)
const SMALL = answer('200 OK', 'application/json', json(244))
const MISSING = answer('404 Not Found', 'application/json', json(64))
const MEBIBYTE = answer('200 OK', 'application/octet-stream', 'x'.repeat(2 ** 20))
const EVENT = Buffer.from(`data: ${json(64)}\n\n`)
// nginx would hold the events back if the origin did not ask it not to.
const STREAM = Buffer.from(
  'HTTP/1.1 200 OK\r\nServer: origin\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n' +
    `X-Accel-Buffering: no\r\nConnection: close\r\n\r\n${EVENT}`,
)

/** Answers / with 244 bytes of JSON, /mebibyte with 1 MiB, /events with an event stream, any other path with 404. */
export function createOrigin(): Server {
  return createServer({ noDelay: true }, socket => new Connection(socket))
}

class Connection {
  readonly #socket: Socket
  #head: Buffer = EMPTY
  #bodyLeft = 0
  #answer = SMALL

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', chunk => this.#read(chunk as Buffer))
    socket.on('error', () => socket.destroy())
  }

  #read(chunk: Buffer): void {
    if (this.#bodyLeft > 0) this.#readBody(chunk.length)
    else this.#readHead(this.#head.length > 0 ? Buffer.concat([this.#head, chunk]) : chunk)
  }

  #readHead(bytes: Buffer): void {
    const end = bytes.indexOf('\r\n\r\n')
    this.#head = end < 0 ? bytes : EMPTY
    if (end >= 0) this.#begin(bytes.toString('latin1', 0, end), bytes.length - end - 4)
  }

  #begin(head: string, bodyLength: number): void {
    this.#answer = answerTo(head)
    if (this.#answer === STREAM) this.#stream()
    this.#bodyLeft = head.startsWith('POST ') ? contentLength(head) : 0
    this.#readBody(bodyLength)
  }

  #readBody(length: number): void {
    this.#bodyLeft -= length
    if (this.#bodyLeft <= 0) this.#socket.write(this.#answer)
  }

  #stream(): void {
    const timer = setInterval(() => this.#socket.write(EVENT), EVENT_INTERVAL)
    this.#socket.on('close', () => clearInterval(timer))
  }
}

function answerTo(head: string): Buffer {
  const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/'))
  if (path === '/events') return STREAM
  if (path === '/mebibyte') return MEBIBYTE
  return path === '/' ? SMALL : MISSING
}

function contentLength(head: string): number {
  return Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
}

function answer(status: string, type: string, body: string): Buffer {
  const framing = `Content-Type: ${type}\r\nContent-Length: ${body.length}`
  return Buffer.from(`HTTP/1.1 ${status}\r\nServer: origin\r\n${framing}\r\n\r\n${body}`)
}

/** A JSON object of exactly `length` bytes. */
function json(length: number): string {
  return JSON.stringify({ id: 42, name: 'answer', text: ''.padEnd(length - 35, 'abcdefgh ') })
}

if (import.meta.main) createOrigin().listen(Number(process.argv[2]), '127.0.0.1')
