// Gathers lines and hands them to a stream in pieces, one at a time: the way of the log to stdout.

import type { Writable } from 'node:stream'
import { Tally } from '../metrics/distribution.ts'

interface LineWriterOptions {
  /** How long a line may wait for others, in ms. */
  readonly patience?: number
  /** How much may wait for a reader that does not keep up, in bytes; what comes then is dropped. */
  readonly most?: number
  /** Writes each line in another form, such as one for people. */
  readonly render?: (line: string) => string
  /** Counts the lines that were dropped. */
  readonly dropped?: Tally
}

/** What a pipe takes in one piece or not at all (PIPE_BUF), so that lines of several processes never mix. */
const pieceSize = 4096

export class LineWriter {
  readonly #stream: Writable
  readonly #patience: number
  readonly #most: number
  readonly #dropped: Tally
  readonly #render: ((line: string) => string) | null
  readonly #pieces: string[] = []
  #piece = ''
  #pieceBytes = 0
  #waitingBytes = 0
  #isWriting = false
  #isGone = false
  #timer: NodeJS.Timeout | null = null
  #emptied: (() => void) | null = null

  constructor(stream: Writable, options: LineWriterOptions = {}) {
    const { patience = 250, most = 8 * 1024 * 1024, dropped = new Tally(), render = null } = options
    this.#stream = stream
    this.#patience = patience
    this.#most = most
    this.#dropped = dropped
    this.#render = render
    stream.on('error', () => this.#giveUp())
  }

  /** Takes a line, its line feed included. */
  write(given: string): void {
    const line = this.#render === null ? given : this.#render(given)
    const bytes = Buffer.byteLength(line)
    if (this.#isGone || this.#waitingBytes + bytes > this.#most) return this.#dropped.inc()
    if (this.#pieceBytes + bytes > pieceSize) this.flush()
    this.#piece += line
    this.#pieceBytes += bytes
    this.#waitingBytes += bytes
    this.#timer ??= setTimeout(() => this.flush(), this.#patience).unref()
  }

  /** Writes what was gathered, or puts it in line where the reader does not keep up. */
  flush(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#piece === '') return
    this.#pieces.push(this.#piece)
    this.#piece = ''
    this.#pieceBytes = 0
    this.#writeNext()
  }

  /** Resolves when all is written, or after `deadline` ms: nobody may read at the other end. */
  async drain(deadline: number): Promise<void> {
    this.flush()
    if (this.#pieces.length === 0 && !this.#isWriting) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#emptied = resolve
    const timer = setTimeout(resolve, deadline)
    await promise
    clearTimeout(timer)
  }

  #writeNext(): void {
    if (this.#isWriting) return
    const piece = this.#pieces.shift()
    if (piece === undefined) return this.#emptied?.()
    this.#isWriting = true
    this.#stream.write(piece, () => {
      this.#isWriting = false
      this.#waitingBytes -= Buffer.byteLength(piece)
      this.#writeNext()
    })
  }

  /** A reader that has left does not come back. */
  #giveUp(): void {
    this.#isGone = true
    this.#pieces.length = 0
    this.#emptied?.()
  }
}
