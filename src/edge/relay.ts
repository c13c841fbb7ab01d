// The answer of the origin on its way to the client: everything end to end unchanged, framing and connection our own (RFC 9112 sections 6 and 9). What
// one run of bytes from the origin brings leaves as one write. Called by `forward-http.ts`.
import type { BodyReader, Framing } from '../http1/body.ts'
import { chunkSize, chunkText, lastChunk } from '../http1/chunk.ts'
import { crossingLines } from '../http1/fields.ts'
import type { ResponseHead } from '../http1/response-head.ts'
import type { Exchange } from './exchange.ts'

/** Bytes up to this length are copied into the text that is written anyway: one write costs less than the copy. */
const WORTH_COPYING = 16 * 1024

export class Relay {
  readonly #x: Exchange
  readonly #framing: Framing
  /** What waits for the end of the present run of bytes. */
  #held: string

  constructor(x: Exchange, head: ResponseHead, body: BodyReader) {
    this.#x = x
    this.#framing = x.responseFraming = framingFor(x, body)
    this.#held = relayedHead(x, head, this.#framing)
  }

  /** Takes body bytes; false when the client should be given time to read. */
  data(bytes: Buffer): boolean {
    this.#x.bytesOut += bytes.length
    if (bytes.length > WORTH_COPYING) return this.#writeLarge(bytes)
    this.#held += this.#framing === 'chunked' ? chunkText(bytes) : bytes.toString('latin1')
    return true
  }

  /** Writes what is held; false when the client should be given time to read. */
  flush(): boolean {
    if (this.#held === '') return true
    const held = this.#held
    this.#held = ''
    this.#x.stage = 'begun'
    return this.#x.client.write(held)
  }

  end(trailers: readonly string[] | null): void {
    if (this.#framing === 'chunked') this.#held += lastChunk(trailers)
    this.flush()
  }

  #writeLarge(bytes: Buffer): boolean {
    const { client } = this.#x
    const isChunked = this.#framing === 'chunked'
    client.cork()
    if (isChunked) this.#held += chunkSize(bytes.length)
    this.flush()
    const mayGoOn = client.write(bytes)
    if (isChunked) client.write('\r\n')
    client.uncork()
    return mayGoOn
  }
}

/** Writes an interim answer (RFC 9110 section 15.2). */
export function relayedInterim(head: ResponseHead): string {
  return `HTTP/1.1 ${head.status} ${head.reason}\r\n${crossingLines(head)}\r\n`
}

/** Writes the answer that turns the connection into a WebSocket. */
export function relayedSwitch(x: Exchange, head: ResponseHead): string {
  return `HTTP/1.1 101 ${head.reason}\r\n${crossingLines(head)}Connection: Upgrade\r\nUpgrade: websocket\r\nsvc-ray: ${x.ray}\r\n\r\n`
}

/** Says whether the connection stays open, where the version's default is the other (RFC 9112 section 9.3). */
export function connectionField(x: Exchange): string {
  if (!x.keepAlive) return 'Connection: close\r\n'
  return x.head.minor === 0 ? 'Connection: keep-alive\r\n' : ''
}

function relayedHead(x: Exchange, head: ResponseHead, framing: Framing): string {
  const date = head.hasDate ? '' : `Date: ${x.plane.date()}\r\n`
  return `HTTP/1.1 ${head.status} ${head.reason}\r\n${crossingLines(head)}${framingField(x, head, framing)}${date}svc-ray: ${x.ray}\r\n${connectionField(x)}\r\n`
}

/** A body of unknown length is chunked for HTTP/1.1; for HTTP/1.0 only the end of the connection can mark its end. */
function framingFor(x: Exchange, body: BodyReader): Framing {
  if (body.framing !== 'chunked' && body.framing !== 'close') return body.framing
  if (x.head.minor === 1) return 'chunked'
  x.keepAlive = false
  return 'close'
}

function framingField(x: Exchange, head: ResponseHead, framing: Framing): string {
  if (framing === 'chunked') return 'Transfer-Encoding: chunked\r\n'
  const saysLength = framing === 'length' || x.head.method === 'HEAD' || head.status === 304
  return saysLength && head.contentLength !== -1 ? `Content-Length: ${head.contentLength}\r\n` : ''
}
