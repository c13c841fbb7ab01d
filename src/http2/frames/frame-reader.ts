// Splits received bytes into frames (RFC 9113 section 4.1): DATA as it comes, any other frame whole.

import { frameType } from './frames.ts'

/** Every peer must accept so many bytes. */
export const frameLimit = 16_384

const headLength = 9

export interface FrameTaker {
  /** Returns false if the connection fails. */
  frameBegun(type: number, flags: number, stream: number, length: number): boolean
  frame(bytes: Buffer, at: number, end: number): void
  /** Includes padding. */
  dataPart(bytes: Buffer, at: number, end: number, isLast: boolean): void
}

export class FrameReader {
  readonly #taker: FrameTaker
  #partial: Buffer | null = null
  #partialLength = 0
  #isData = false
  /** Bytes of the payload; -1 between two frames. */
  #missing = -1

  constructor(taker: FrameTaker) {
    this.#taker = taker
  }

  /** Reads at most one frame; returns the offset after it, or -1 if the connection failed. */
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
    const partLength = Math.min(bytes.length - at, this.#missing)
    this.#missing -= partLength
    const isLast = this.#missing === 0
    if (isLast) this.#missing = -1
    if (partLength > 0 || isLast) this.#taker.dataPart(bytes, at, at + partLength, isLast)
    return at + partLength
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

/** 31 bits, the size of stream ids and windows (RFC 9113 section 4.1). */
export function uint31(bytes: Buffer, at: number): number {
  return ((bytes[at]! & 0x7f) << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}
