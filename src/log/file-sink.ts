// Writes the pieces of a log to a file. Node's own stream drops the rest of a piece for which a full disk had only some room.

import { write } from 'node:fs'

export class FileSink {
  readonly destroyed = false
  readonly #fd: number
  /** What is left of a piece whose write failed in the middle. */
  #piece = ''
  #rest: Buffer | null = null

  constructor(fd: number) {
    this.#fd = fd
  }

  /** Writes a piece in the background, and where its last write failed, what is left of it. */
  write(piece: string, done: (error: Error | null) => void): void {
    const bytes = this.#rest !== null && piece === this.#piece ? this.#rest : Buffer.from(piece)
    this.#piece = piece
    this.#write(bytes, done)
  }

  /** Never calls: the writer of each piece hears of its failure. */
  on(): void {}

  #write(bytes: Buffer, done: (error: Error | null) => void): void {
    this.#rest = bytes
    write(this.#fd, bytes, 0, bytes.length, null, (error, written) => {
      if (error !== null) return done(error)
      if (written < bytes.length) return this.#write(bytes.subarray(written), done)
      this.#rest = null
      done(null)
    })
  }
}
