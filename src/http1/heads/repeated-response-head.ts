// Compares the head of a response with the one before on its connection, instead of parsing it again.

import { parseResponseHead, type ResponseFault, type ResponseHead } from './response-head.ts'

const maxBytes = 4096

export class RepeatedResponseHead {
  #head: ResponseHead | null = null
  /** In the first `#size` bytes. */
  #bytes: Buffer = noBytes
  #size = 0

  /** Returns the same object for the same bytes. */
  parse(bytes: Buffer, start: number, end: number): ResponseHead | ResponseFault {
    const last = this.#head
    if (last !== null && end - start === this.#size && this.#isRepeated(bytes, start, end))
      return last.repeated()
    const head = parseResponseHead(bytes, start, end)
    if (typeof head !== 'string' && head.keepAlive && head.status >= 200)
      this.#remember(head, bytes, start, end)
    return head
  }

  #isRepeated(bytes: Buffer, start: number, end: number): boolean {
    return bytes.compare(this.#bytes, 0, this.#size, start, end) === 0
  }

  #remember(head: ResponseHead, bytes: Buffer, start: number, end: number): void {
    const size = end - start
    if (size > maxBytes) return
    if (this.#bytes.length < size) this.#bytes = Buffer.allocUnsafeSlow(size)
    bytes.copy(this.#bytes, 0, start, end)
    this.#size = size
    this.#head = head
  }
}

const noBytes = Buffer.alloc(0)
