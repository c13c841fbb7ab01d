// Reads of all sockets into one buffer. Otherwise, Node makes two objects and a copy for each read.

import type { Socket } from 'node:net'

/** Gets the bytes if the handle allocates them itself; may return the buffer of the next read. */
type OnRead = (this: Handle, bytes?: ArrayBuffer) => Buffer | undefined

interface Handle {
  useUserBuffer?(buffer: Buffer): void
  onread: OnRead
  reads?: Reads
}

interface Reader {
  /** The bytes may be overwritten once it has returned, unless `ownBytes` keeps them. */
  receive(bytes: Buffer): void
}

interface StreamBinding {
  readonly streamBaseState: Int32Array
  readonly kReadBytesOrError: number
  readonly kArrayBufferOffset: number
}

const size = 64 * 1024
/** After so many bytes, more may follow, which get buffers of their own, as a copy would cost more. */
const large = 16 * 1024

const shared: Buffer<ArrayBufferLike> = Buffer.allocUnsafeSlow(size)

/**
 * Buffers of single sockets whose bytes nobody has kept. They are read into again: V8 collects its old heap
 * by how much memory was allocated outside.
 */
const reusable = new WeakSet<ArrayBufferLike>()
const spare: Buffer[] = []
const maxSpare = 16

/**
 * Has the reader receive what the socket reads while it flows, without `data` events. They still bring what
 * was read while it was paused, and everything if this Node cannot read into a given buffer.
 */
export function readInPlace(socket: Socket, reader: Reader): void {
  const handle = (socket as { readonly _handle?: Handle | null })._handle
  if (stream === null || handle?.useUserBuffer === undefined) return
  handle.reads = new Reads(socket, reader, handle.onread)
  handle.useUserBuffer(shared)
  handle.onread = onRead
}

/** Returns the bytes, or a copy if they lie in the buffer of all sockets; no read overwrites them then. */
export function ownBytes(bytes: Buffer): Buffer {
  if (bytes.buffer === shared.buffer) return Buffer.from(bytes)
  reusable.delete(bytes.buffer)
  return bytes
}

/** Returns the bytes, or a copy if they lie in the buffer of all sockets. They may still be owned later. */
export function unsharedBytes(bytes: Buffer): Buffer {
  return bytes.buffer === shared.buffer ? Buffer.from(bytes) : bytes
}

/** Returns the bytes from `from` to `to`, in a view that other reads may reuse as well. */
export function partInPlace(bytes: Buffer, from: number, to: number): Buffer {
  if (to - from === bytes.length) return bytes
  if (bytes !== views[bytes.length & 255]) return bytes.subarray(from, to)
  const slot = (from * 31 + to) & 255
  const part = parts[slot]!
  if (part.byteOffset === from && part.length === to - from) return part
  return (parts[slot] = shared.subarray(from, to))
}

function onRead(this: Handle): Buffer | undefined {
  return this.reads!.take(this)
}

class Reads {
  readonly #socket: Socket
  readonly #reader: Reader
  readonly #standard: OnRead
  #target = shared

  constructor(socket: Socket, reader: Reader, standard: OnRead) {
    this.#socket = socket
    this.#reader = reader
    this.#standard = standard
  }

  take(handle: Handle): Buffer | undefined {
    const socket = this.#socket
    const count = stream!.streamBaseState[stream!.kReadBytesOrError]!
    if (count <= 0) return this.#standard.call(handle)
    const bytes = this.#target === shared ? viewOf(count) : this.#target.subarray(0, count)
    if (socket.readableFlowing === true && socket.readableLength === 0) this.#reader.receive(bytes)
    else this.#passOn(handle, bytes)
    return count < large ? this.#readSmall() : this.#readLarge()
  }

  #readSmall(): Buffer | undefined {
    const target = this.#target
    if (target === shared) return undefined
    if (spare.length < maxSpare && reusable.has(target.buffer)) spare.push(target)
    return (this.#target = shared)
  }

  #readLarge(): Buffer | undefined {
    if (reusable.has(this.#target.buffer)) return undefined
    const target = spare.pop() ?? Buffer.allocUnsafeSlow(size)
    reusable.add(target.buffer)
    return (this.#target = target)
  }

  /** By Node's own way, which stops to read. */
  #passOn(handle: Handle, bytes: Buffer): void {
    stream!.streamBaseState[stream!.kArrayBufferOffset] = 0
    const { buffer } = this.#target === shared ? new Uint8Array(bytes) : this.#target
    reusable.delete(buffer)
    this.#standard.call(handle, buffer as ArrayBuffer)
  }
}

/** Most lengths come again. */
const views: Buffer[] = Array.from({ length: 256 }, () => shared.subarray(0, 0))

/** Heads, and the sizes of chunks, are often as long as those before. */
const parts: Buffer[] = Array.from(views)

function viewOf(length: number): Buffer {
  const view = views[length & 255]!
  return view.length === length ? view : (views[length & 255] = shared.subarray(0, length))
}

/** Where Node says what it has read; null if this Node hides that. */
const stream = bindingOf('stream_wrap')

function bindingOf(name: string): StreamBinding | null {
  try {
    return (process as unknown as { binding(name: string): StreamBinding }).binding(name)
  } catch {
    return null
  }
}
