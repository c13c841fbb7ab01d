// A header block that comes in several frames (RFC 9113 section 4.3): no other frame may come in between.

import { frameLimit } from './frame-reader.ts'

export interface BlockLimits {
  readonly bytes: number
  readonly frames: number
}

export class HeaderBlock {
  stream = 0
  flags = 0
  #bytes: Buffer | null = null
  #length = 0
  #frames = 0

  begin(stream: number, flags: number): void {
    this.stream = stream
    this.flags = flags
    this.#length = this.#frames = 0
  }

  /** Returns the exceeded limit, or null. */
  add(bytes: Buffer, at: number, end: number, limits: BlockLimits): keyof BlockLimits | null {
    const length = this.#length + end - at
    if (length > limits.bytes) return 'bytes'
    if (++this.#frames > limits.frames) return 'frames'
    if (this.#bytes === null || this.#bytes.length < length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(2 * length, frameLimit))
      this.#bytes?.copy(grown, 0, 0, this.#length)
      this.#bytes = grown
    }
    bytes.copy(this.#bytes, this.#length, at, end)
    this.#length = length
    return null
  }

  take(): Buffer {
    const block = this.#bytes!.subarray(0, this.#length)
    this.drop()
    return block
  }

  drop(): void {
    this.stream = 0
    this.#bytes = null
  }
}
