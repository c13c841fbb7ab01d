// The origin of the bench, run as `origin.ts PORT` in a process of its own: prebuilt answers on plain sockets, so that
// the proxy in front is what a run measures. It reads what proxies send (no chunked requests), not HTTP at large.
import { createServer, type Server, type Socket } from 'node:net'
import { answerChat, CHAT_PATH } from './chat.ts'

/** Milliseconds between two events of one stream. */
export const EVENT_INTERVAL = 50

const EMPTY = Buffer.alloc(0)
const EVENT = Buffer.from(`data: ${json(64)}\n\n`)
// nginx would hold the events back if the origin did not ask it not to.
const STREAM = Buffer.from(
  'HTTP/1.1 200 OK\r\nServer: origin\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n' +
    `X-Accel-Buffering: no\r\nConnection: close\r\n\r\n${EVENT}`,
)
const MISSING = answer('404 Not Found', 'application/json', json(64))
const ANSWERS: ReadonlyMap<string, Buffer> = new Map([
  ['/', answer('200 OK', 'application/json', json(244))],
  ['/mebibyte', answer('200 OK', 'application/octet-stream', 'x'.repeat(2 ** 20))],
  ['/events', STREAM],
])

/** Answers / with 244 bytes of JSON, /mebibyte with 1 MiB, /events with an event stream, chats like a provider, any other path with 404. */
export function createOrigin(): Server {
  return createServer({ noDelay: true }, socket => new Connection(socket))
}

class Connection {
  readonly #socket: Socket
  #head: Buffer = EMPTY
  #path = '/'
  #chat = ''
  #bodyLeft = 0

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', chunk => this.#read(chunk as Buffer))
    socket.on('error', () => socket.destroy())
  }

  #read(chunk: Buffer): void {
    if (this.#bodyLeft > 0) this.#readBody(chunk)
    else this.#readHead(this.#head.length > 0 ? Buffer.concat([this.#head, chunk]) : chunk)
  }

  #readHead(bytes: Buffer): void {
    const end = bytes.indexOf('\r\n\r\n')
    this.#head = end < 0 ? bytes : EMPTY
    if (end >= 0) this.#begin(bytes.toString('latin1', 0, end), bytes.subarray(end + 4))
  }

  #begin(head: string, body: Buffer): void {
    this.#path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/'))
    this.#chat = ''
    this.#bodyLeft = head.startsWith('POST ') ? contentLength(head) : 0
    this.#readBody(body)
  }

  #readBody(bytes: Buffer): void {
    this.#bodyLeft -= bytes.length
    if (this.#path === CHAT_PATH) this.#chat += bytes.toString('latin1')
    if (this.#bodyLeft <= 0) this.#answer()
  }

  #answer(): void {
    if (this.#path === CHAT_PATH) answerChat(this.#socket, this.#chat)
    else this.#socket.write(ANSWERS.get(this.#path) ?? MISSING)
    if (this.#path === '/events') this.#stream()
  }

  #stream(): void {
    const timer = setInterval(() => this.#socket.write(EVENT), EVENT_INTERVAL)
    this.#socket.on('close', () => clearInterval(timer))
  }
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
