// Gathers lines and writes them to a stream in pieces, one at a time: the path of the log to stdout.

import { Tally } from '../metrics/counters/distribution.ts'
import { isoTime, lineHead } from './line-head.ts'

interface LineWriterOptions {
  /** Ms that a line may wait for others. */
  readonly maxDelay?: number
  /** Bytes for a slow reader or a full disk; further lines are dropped. */
  readonly maxBytes?: number
  readonly retry?: number
  readonly render?: (line: string) => string
  readonly dropped?: Tally
  readonly isNumeric?: boolean
}

/** PIPE_BUF: a pipe takes it in one piece or not at all, so that lines of processes never mix. */
const pieceSize = 4096

/** Takes no more after an error destroyed it. */
interface PieceSink {
  readonly destroyed: boolean
  write(piece: string, done: (error?: Error | null) => void): unknown
  on(event: 'error', listener: () => void): unknown
}

interface Loss {
  lines: number
  readonly first: number
  last: number
}

export class LineWriter {
  readonly #stream: PieceSink
  readonly #retry: number
  readonly #maxDelay: number
  readonly #maxBytes: number
  readonly #dropped: Tally
  readonly #render: ((line: string) => string) | null
  readonly #isNumeric: boolean
  readonly #pieces: string[] = []
  #piece = ''
  #pieceBytes = 0
  #waitingBytes = 0
  #isWriting = false
  #loss: Loss | null = null
  #isGone = false
  #timer: NodeJS.Timeout | null = null
  #emptied: (() => void) | null = null

  constructor(stream: PieceSink, options: LineWriterOptions = {}) {
    const { maxDelay = 250, maxBytes = 8 * 1024 * 1024, retry = 1_000 } = options
    const { dropped = new Tally(), render = null, isNumeric = false } = options
    this.#stream = stream
    this.#maxDelay = maxDelay
    this.#maxBytes = maxBytes
    this.#retry = retry
    this.#dropped = dropped
    this.#render = render
    this.#isNumeric = isNumeric
    stream.on('error', () => stream.destroyed && this.#giveUp())
  }

  write(given: string): void {
    const line = this.#render === null ? given : this.#render(given)
    const bytes = Buffer.byteLength(line)
    if (this.#isGone || this.#waitingBytes + bytes > this.#maxBytes) return this.#drop()
    this.#take(line, bytes)
  }

  #take(line: string, bytes: number): void {
    if (this.#pieceBytes + bytes > pieceSize) this.flush()
    this.#piece += line
    this.#pieceBytes += bytes
    this.#waitingBytes += bytes
    this.#timer ??= setTimeout(() => this.flush(), this.#maxDelay).unref()
  }

  flush(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#piece === '') return
    this.#pieces.push(this.#piece)
    this.#piece = ''
    this.#pieceBytes = 0
    this.#writeNext()
  }

  /** Resolves after at most `deadline` ms: the other end may have no reader. */
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
    this.#write(piece)
  }

  #write(piece: string): void {
    this.#stream.write(piece, error => {
      if (this.#isGone) return
      // A full disk may have room again.
      if (error) return void setTimeout(() => this.#isGone || this.#write(piece), this.#retry).unref()
      this.#isWriting = false
      this.#waitingBytes -= Buffer.byteLength(piece)
      this.#tellLoss()
      this.#writeNext()
    })
  }

  #drop(): void {
    this.#dropped.inc()
    const now = Date.now()
    if (this.#loss === null) this.#loss = { lines: 1, first: now, last: now }
    else {
      this.#loss.lines++
      this.#loss.last = now
    }
  }

  /** Reports it once half of the buffer is free: a slightly slow reader would otherwise get little else. */
  #tellLoss(): void {
    if (this.#loss === null || this.#waitingBytes > this.#maxBytes / 2) return
    const { lines, first, last } = this.#loss
    this.#loss = null
    const [from, to] = [isoTime(first), isoTime(last)]
    const msg = 'log lines lost: the log could not be written in time'
    const fields = JSON.stringify({ pid: process.pid, lines, from, to, msg }).slice(1)
    const line = `${lineHead('warn', Date.now(), this.#isNumeric)},${fields}\n`
    const rendered = this.#render === null ? line : this.#render(line)
    this.#take(rendered, Buffer.byteLength(rendered))
    this.flush()
  }

  /** A closed reader does not come back. */
  #giveUp(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#waitingBytes = 0
    for (const piece of this.#pieces) this.#dropped.value += piece.split('\n').length - 1
    this.#pieces.length = 0
    this.#emptied?.()
  }
}
