// Bytes kept of a body as it passes, for each direction of an AI call.

import { ownBytes } from '../net/socket/shared-reads.ts'

/** Bytes kept at the beginning of a body, and at the end for the usage there. */
export const headSize = 64 * 1024
export const tailSize = 8 * 1024
/** Bytes kept of an encoded body, which can only be decoded from its beginning. */
export const encodedSize = 1024 * 1024

/** Pieces smaller than this are gathered in blocks: an event stream has thousands of them. */
const smallPiece = 1024
const blockSize = 4096
/** A piece is copied when it would keep more than this many times its size alive. */
const maxPinned = 4

export class Capture {
  readonly isEncoded: boolean
  /** Bytes of the whole body so far. */
  size = 0
  readonly #limit: number
  #pieces: Buffer[] | null = null
  #headSize = 0
  #block: Buffer | null = null
  #blockUsed = 0
  /** The last bytes of the `#rolled` ones after the head; the next one goes to `#rolled % tailSize`. */
  #ring: Buffer | null = null
  #rolled = 0

  constructor({ isEncoded }: { readonly isEncoded: boolean }) {
    this.isEncoded = isEncoded
    this.#limit = isEncoded ? encodedSize : headSize
  }

  /** Keeps the needed part of bytes that will not change any more, or of those of a read in place. */
  take(bytes: Buffer): void {
    const room = this.#limit - this.#headSize
    if (bytes.length <= room) this.#keep(bytes)
    else this.#overflow(bytes, room)
    this.size += bytes.length
  }

  /** Whether the body is longer than `head`. */
  get isCut(): boolean {
    return this.size > this.#headSize
  }

  /** Approximate memory in bytes. */
  get weight(): number {
    return this.#headSize + (this.#ring === null ? 0 : tailSize)
  }

  /** Returns the beginning of the body, or all of it. */
  head(): Buffer {
    this.#seal()
    const pieces = this.#pieces ?? []
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  }

  /** Returns the last bytes, which may overlap `head`; empty if that has all, or the body is encoded. */
  tail(): Buffer {
    if (this.#ring === null) return empty
    if (this.#rolled < tailSize)
      return Buffer.concat([
        this.head().subarray(this.#rolled - tailSize),
        this.#ring.subarray(0, this.#rolled),
      ])
    const split = this.#rolled % tailSize
    return Buffer.concat([this.#ring.subarray(split), this.#ring.subarray(0, split)])
  }

  #keep(bytes: Buffer): void {
    this.#headSize += bytes.length
    const isFirst = this.#pieces === null && this.#block === null
    if (!isFirst && bytes.length < smallPiece) return this.#gather(bytes)
    this.#seal()
    const isPinning = bytes.length * maxPinned < bytes.buffer.byteLength
    this.#add(isPinning ? Buffer.from(bytes) : ownBytes(bytes))
  }

  #gather(bytes: Buffer): void {
    if (this.#blockUsed + bytes.length > blockSize) this.#seal()
    this.#block ??= Buffer.allocUnsafeSlow(blockSize)
    this.#block.set(bytes, this.#blockUsed)
    this.#blockUsed += bytes.length
  }

  #seal(): void {
    if (this.#block === null) return
    this.#add(this.#block.subarray(0, this.#blockUsed))
    this.#block = null
    this.#blockUsed = 0
  }

  /** Most bodies come in one piece: a list that grows takes room for sixteen more. */
  #add(piece: Buffer): void {
    if (this.#pieces === null) this.#pieces = [piece]
    else this.#pieces.push(piece)
  }

  #overflow(bytes: Buffer, room: number): void {
    if (room > 0) this.#keep(bytes.subarray(0, room))
    if (!this.isEncoded) this.#roll(room > 0 ? bytes.subarray(room) : bytes)
  }

  #roll(bytes: Buffer): void {
    this.#ring ??= Buffer.allocUnsafeSlow(tailSize)
    const last = bytes.length > tailSize ? bytes.subarray(-tailSize) : bytes
    const at = (this.#rolled + bytes.length - last.length) % tailSize
    if (at + last.length <= tailSize) this.#ring.set(last, at)
    else this.#ring.set(last.subarray(last.copy(this.#ring, at)))
    this.#rolled += bytes.length
  }
}

const empty = Buffer.alloc(0)
