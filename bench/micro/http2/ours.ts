// A server as small as can be on the codec of this project, over TLS, beside the one on node:http2: node bench/micro/http2/ours.ts FOLDER PORT
import { readFileSync } from 'node:fs'
import { createServer, type TLSSocket } from 'node:tls'
import type { RequestHead } from '../../../src/http1/heads/request-head.ts'
import { ServerSession } from '../../../src/http2/server/session.ts'
import type { ReadState, SessionUser } from '../../../src/http2/server/session-user.ts'
import type { Stream } from '../../../src/http2/server/stream.ts'
import { bodyOf, linesOf } from './responses.ts'

const [folder = '.', port = '0'] = process.argv.slice(2)
const cert = readFileSync(`${folder}/cert.pem`)
const key = readFileSync(`${folder}/key.pem`)

let written: Connection[] = []

class Connection implements SessionUser<string> {
  readonly limits = { url: 16_384, headerSection: 65_536, headers: 200 }
  readonly headTimeout = 10_000
  readonly #socket: TLSSocket
  readonly #session = new ServerSession<string>(this, { maxConcurrentStreams: 128 }, performance.now())
  /** The session reuses the memory of its output, so nothing more is taken before it is written. */
  #isWriting = false
  #isReading = true

  constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
    socket.on('error', () => {})
    socket.on('close', () => this.#session.close())
    this.outputReady()
  }

  begin(stream: Stream<string>, head: RequestHead): void {
    stream.owner = head.target
    if (stream.isRequestWhole) this.#respond(stream)
    else this.#session.readBody(stream)
  }

  body(): void {}

  bodyEnd(stream: Stream<string>): void {
    this.#respond(stream)
  }

  aborted(): void {}

  drained(): void {}

  outputReady(): void {
    if (written.push(this) === 1) setImmediate(flush)
  }

  failed(_fault: string, detail: string): void {
    console.error(detail)
    this.#socket.destroySoon()
  }

  readonly flush = (): void => {
    if (this.#isWriting) return
    const bytes = this.#session.takeOutput()
    if (bytes === null) return
    this.#isWriting = true
    this.#socket.write(bytes, () => {
      this.#isWriting = false
      this.flush()
    })
  }

  #respond(stream: Stream<string>): void {
    const body = bodyOf(stream.owner!)
    this.#session.respond(stream, 200, linesOf(body), false)
    this.#session.write(stream, body)
    this.#session.end(stream, null)
  }

  #read(bytes: Buffer): void {
    this.#goOn(this.#session.read(bytes, performance.now()))
  }

  #goOn(state: ReadState): void {
    if (state === 'done') {
      if (!this.#isReading) this.#socket.resume()
      this.#isReading = true
      return
    }
    this.#isReading = false
    this.#socket.pause()
    setImmediate(() => this.#goOn(this.#session.readOn(performance.now())))
  }
}

function flush(): void {
  const connections = written
  written = []
  for (const connection of connections) connection.flush()
}

createServer({ cert, key, ALPNProtocols: ['h2'] }, socket => new Connection(socket)).listen(
  Number(port),
  '127.0.0.1',
)
