// Cuts received bytes into frames (RFC 9113 section 4.1), however they are cut into packets. The data of a DATA frame is passed on as it comes; any other frame
// is passed on whole.

import { frameType } from './frames.ts'

/** Most bytes of a frame, which is what everybody has to accept. */
export const frameLimit = 16_384

const headLength = 9

/** Whoever acts on frames. */
export interface FrameTaker {
  /** Takes the head of a frame; false where the connection fails with it. */
  frameBegun(type: number, flags: number, stream: number, length: number): boolean
  /** Takes the payload of the frame, between two offsets. */
  frame(bytes: Buffer, at: number, end: number): void
  /** Takes some bytes of a DATA frame, its padding included. */
  dataPart(bytes: Buffer, at: number, end: number, isLast: boolean): void
}

export class FrameReader {
  readonly #taker: FrameTaker
  /** The head, or the payload, that has come in part. */
  #partial: Buffer | null = null
  #partialLength = 0
  #isData = false
  /** Bytes that are missing of the payload; -1 between two frames. */
  #missing = -1

  constructor(taker: FrameTaker) {
    this.#taker = taker
  }

  /** Reads on from `at`, to the end of one frame at most; returns the offset behind what it read, -1 where the connection failed. */
  next(bytes: Buffer, at: number): number {
    if (this.#missing === -1) {
      at = this.#head(bytes, at)
      if (this.#missing === -1) return at
    }
    return this.#isData ? this.#data(bytes, at) : this.#payload(bytes, at)
  }

  #head(bytes: Buffer, at: number): number {
    if (this.#partial === null && bytes.length - at >= headLength)
      return this.#begin(bytes, at) ? at + headLength : -1
    at = this.#collect(bytes, at, headLength)
    if (this.#partialLength < headLength) return at
    const head = this.#partial!
    this.#partial = null
    return this.#begin(head, 0) ? at : -1
  }

  #begin(bytes: Buffer, at: number): boolean {
    const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
    const type = bytes[at + 3]!
    this.#isData = type === frameType.data
    if (!this.#taker.frameBegun(type, bytes[at + 4]!, uint31(bytes, at + 5), length)) return false
    this.#missing = length
    return true
  }

  #data(bytes: Buffer, at: number): number {
    const taken = Math.min(bytes.length - at, this.#missing)
    this.#missing -= taken
    const isLast = this.#missing === 0
    if (isLast) this.#missing = -1
    if (taken > 0 || isLast) this.#taker.dataPart(bytes, at, at + taken, isLast)
    return at + taken
  }

  #payload(bytes: Buffer, at: number): number {
    const length = this.#missing
    if (this.#partial === null && bytes.length - at >= length) {
      this.#missing = -1
      this.#taker.frame(bytes, at, at + length)
      return at + length
    }
    at = this.#collect(bytes, at, length)
    if (this.#partialLength < length) return at
    const payload = this.#partial!
    this.#partial = null
    this.#missing = -1
    this.#taker.frame(payload, 0, length)
    return at
  }

  /** Adds to what has come in part of so many bytes. */
  #collect(bytes: Buffer, at: number, length: number): number {
    if (this.#partial === null) {
      this.#partial = Buffer.allocUnsafe(length)
      this.#partialLength = 0
    }
    const end = Math.min(bytes.length, at + length - this.#partialLength)
    bytes.copy(this.#partial, this.#partialLength, at, end)
    this.#partialLength += end - at
    return end
  }
}

/** Reads 31 bits, which ids of streams and windows have (RFC 9113 section 4.1). */
export function uint31(bytes: Buffer, at: number): number {
  return ((bytes[at]! & 0x7f) << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}
