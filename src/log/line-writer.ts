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
const usualPieceSize = 4096
/** UTF-8 has at most so many bytes a character. */
const longestCharacter = 3

/** Takes no more after an error destroyed it. */
interface PieceSink {
  readonly destroyed: boolean
  /** Bytes; those of a pipe by default. */
  readonly pieceSize?: number
  /** `piece` changes once it is done without an error. */
  write(piece: Buffer, done: (error?: Error | null) => void): unknown
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
  readonly #pieceSize: number
  readonly #pieces: Buffer[] = []
  /** The piece that lines are gathered in, and its bytes. */
  #piece: Buffer
  #filled = 0
  /** A written piece, to be filled again. */
  #spare: Buffer | null = null
  #waitingBytes = 0
  #isWriting = false
  /** Whether the piece is to be written although it is not full. */
  #isDue = false
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
    this.#pieceSize = stream.pieceSize ?? usualPieceSize
    this.#piece = this.#newPiece()
    stream.on('error', () => stream.destroyed && this.#giveUp())
  }

  write(given: string): void {
    const line = this.#render === null ? given : this.#render(given)
    // Only near the bound are bytes counted.
    const mayExceed = this.#waitingBytes + line.length * longestCharacter > this.#maxBytes
    if (this.#isGone || (mayExceed && this.#waitingBytes + Buffer.byteLength(line) > this.#maxBytes))
      return this.#drop()
    this.#take(line)
  }

  #take(line: string): void {
    if (!this.#fits(line)) {
      this.#finishPiece()
      if (!this.#fits(line)) {
        const alone = Buffer.from(line)
        this.#waitingBytes += alone.length
        this.#pieces.push(alone)
        return this.#writeNext()
      }
      this.#writeNext()
    }
    const bytes = this.#piece.write(line, this.#filled)
    this.#filled += bytes
    this.#waitingBytes += bytes
    this.#timer ??= setTimeout(() => this.flush(), this.#maxDelay).unref()
  }

  #fits(line: string): boolean {
    const room = this.#pieceSize - this.#filled
    return line.length * longestCharacter <= room || Buffer.byteLength(line) <= room
  }

  /** Writes what has been gathered, or, while a piece is being written, lets it grow until then. */
  flush(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#isDue = this.#filled > 0
    this.#writeNext()
  }

  #finishPiece(): void {
    this.#isDue = false
    if (this.#filled === 0) return
    this.#pieces.push(this.#piece.subarray(0, this.#filled))
    this.#piece = this.#newPiece()
    this.#filled = 0
  }

  #newPiece(): Buffer {
    const piece = this.#spare ?? Buffer.allocUnsafeSlow(this.#pieceSize)
    this.#spare = null
    return piece
  }

  /** Resolves after at most `deadline` ms: the other end may have no reader. */
  async drain(deadline: number): Promise<void> {
    this.flush()
    if (!this.#isWriting) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#emptied = resolve
    const timer = setTimeout(resolve, deadline)
    await promise
    clearTimeout(timer)
  }

  #writeNext(): void {
    if (this.#isWriting) return
    if (this.#pieces.length === 0 && this.#isDue) this.#finishPiece()
    const piece = this.#pieces.shift()
    if (piece === undefined) return this.#emptied?.()
    this.#isWriting = true
    this.#write(piece)
  }

  #write(piece: Buffer): void {
    this.#stream.write(piece, error => {
      if (this.#isGone) return
      // A full disk may have room again.
      if (error) return void setTimeout(() => this.#isGone || this.#write(piece), this.#retry).unref()
      this.#isWriting = false
      this.#waitingBytes -= piece.length
      if (piece.length <= this.#pieceSize) this.#spare = Buffer.from(piece.buffer)
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
    this.#take(rendered)
    this.flush()
  }

  /** A closed reader does not come back. */
  #giveUp(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#waitingBytes = 0
    this.#finishPiece()
    for (const piece of this.#pieces) this.#dropped.value += piece.toString().split('\n').length - 1
    this.#pieces.length = 0
    this.#emptied?.()
  }
}
