// One connection of HTTP/1.1 in the hands of a case: any bytes out, all bytes in.

import type { Socket } from 'node:net'
import { type Address, awake, dial } from '../dial.ts'
import { Patience } from '../patience.ts'

/** A response as it came: the body is what its framing says. */
export interface RawResponse {
  readonly status: number
  /** `name: value`, names in lower case. */
  readonly lines: readonly string[]
  readonly body: string
  /** False if the connection ended before it. */
  readonly isWhole: boolean
}

export class RawClient {
  isClosed = false
  received = ''
  readonly patience: Patience
  readonly #socket: Socket

  constructor(address: Address) {
    this.patience = new Patience(() => awake(address))
    this.#socket = dial(address, ['http/1.1'], true)
    this.#socket.on('error', () => this.#close())
    this.#socket.on('end', () => this.#close())
    this.#socket.on('close', () => this.#close())
    this.#socket.on('data', bytes => {
      this.received += bytes.toString('latin1')
      this.patience.wake()
    })
  }

  send(bytes: string): void {
    if (!this.isClosed) this.#socket.write(bytes, 'latin1')
  }

  finish(): void {
    this.#socket.end()
  }

  async until(holds: () => boolean): Promise<boolean> {
    await this.patience.until(() => holds() || this.isClosed)
    return holds()
  }

  /** All responses so far, final and interim, to requests of these methods in their order. */
  responses(methods: readonly string[] = []): readonly RawResponse[] {
    return responsesIn(this.received, this.isClosed, methods)
  }

  /** Waits for so many final responses, or the end. */
  async finals(count: number, methods: readonly string[] = []): Promise<readonly RawResponse[]> {
    const finals = () => this.responses(methods).filter(({ status }) => status >= 200 || status === 101)
    await this.until(() => finals().filter(({ isWhole }) => isWhole).length >= count)
    return finals()
  }

  close(): void {
    this.patience.end()
    this.#socket.destroy()
  }

  #close(): void {
    this.isClosed = true
    this.patience.wake()
  }
}

function responsesIn(text: string, isClosed: boolean, methods: readonly string[]): readonly RawResponse[] {
  const responses: RawResponse[] = []
  let finals = 0
  for (let at = 0; at < text.length; ) {
    const headEnd = text.indexOf('\r\n\r\n', at)
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text.slice(at, at + 12))?.[1] ?? 0)
    if (headEnd === -1 || status === 0) break
    const lines = text
      .slice(at, headEnd)
      .split('\r\n')
      .slice(1)
      .map(line => line.replace(/^[^:]*/, name => name.toLowerCase()))
    at = headEnd + 4
    const method = status < 200 ? '' : methods[finals++]
    const hasBody = status >= 200 && status !== 204 && status !== 304 && method !== 'HEAD'
    const body = hasBody ? bodyAt(text, at, lines, isClosed) : { text: '', end: at, isWhole: true }
    responses.push({ status, lines, body: body.text, isWhole: body.isWhole })
    if (status === 101) break
    at = body.end
  }
  return responses
}

function bodyAt(text: string, at: number, lines: readonly string[], isClosed: boolean) {
  const length = lines.find(line => line.startsWith('content-length:'))
  if (lines.some(line => /^transfer-encoding:.*chunked/i.test(line))) return chunksAt(text, at)
  if (length === undefined) return { text: text.slice(at), end: text.length, isWhole: isClosed }
  const end = at + Number(length.slice(15))
  return { text: text.slice(at, end), end: Math.min(end, text.length), isWhole: text.length >= end }
}

function chunksAt(text: string, at: number) {
  let body = ''
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at)
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    if (lineEnd === -1 || Number.isNaN(size)) return { text: body, end: text.length, isWhole: false }
    at = lineEnd + 2
    if (size === 0) {
      const end = text.startsWith('\r\n', at) ? at + 2 : text.indexOf('\r\n\r\n', at) + 4
      const isWhole = end >= at + 2
      return { text: body, end: isWhole ? end : text.length, isWhole }
    }
    body += text.slice(at, at + size)
    at += size + 2
    if (at > text.length) return { text: body, end: text.length, isWhole: false }
  }
}
