// Writes a log to a file. On a nearly full disk, Node's own stream would drop the rest of a partial write.

import { write } from 'node:fs'

export class FileSink {
  readonly destroyed = false
  /** The kernel writes a piece of any size in one. */
  readonly pieceSize = 64 * 1024
  readonly #fd: number
  #piece: Buffer | null = null
  #rest: Buffer | null = null

  constructor(fd: number) {
    this.#fd = fd
  }

  write(piece: Buffer, done: (error: Error | null) => void): void {
    const bytes = this.#rest !== null && piece === this.#piece ? this.#rest : piece
    this.#piece = piece
    this.#write(bytes, done)
  }

  /** Never calls: write callbacks report failures. */
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
