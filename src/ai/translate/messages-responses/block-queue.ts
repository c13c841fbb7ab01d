// The blocks of a message that is streamed. Messages writes one after the other, and Responses may write
// several at once, so only the first is open, and the others wait.

import type { JsonObject } from '../json.ts'
import { messageEvent } from '../messages/message-parts.ts'

/** Part of a message, from its first event to its last. */
export class QueuedBlock {
  readonly start: JsonObject
  readonly deltas: JsonObject[] = []
  isDone = false

  constructor(start: JsonObject) {
    this.start = start
  }
}

export class BlockQueue {
  readonly #blocks: QueuedBlock[] = []
  #isOpen = false
  #index = 0
  /** Characters that wait for the blocks before them. */
  #waiting = 0

  get isOverfull(): boolean {
    return this.#blocks.length > 1 && this.#waiting > maxWaiting
  }

  add(start: JsonObject): QueuedBlock {
    const block = new QueuedBlock(start)
    this.#blocks.push(block)
    return block
  }

  /** Adds `text` as the member of a delta that has the name `name`. */
  append(block: QueuedBlock, type: string, name: string, text: string): void {
    if (text === '') return
    this.#waiting += text.length
    block.deltas.push({ type, [name]: text })
  }

  /** Returns the events that may be sent; at the end of the stream, every block is complete. */
  write(isAtEnd = false): string {
    let text = ''
    for (let block = this.#blocks[0]; block !== undefined; block = this.#blocks[0]) {
      if (!this.#isOpen) text += this.#event('content_block_start', { content_block: block.start })
      this.#isOpen = true
      for (const delta of block.deltas.splice(0)) text += this.#event('content_block_delta', { delta })
      if (!block.isDone && !isAtEnd) break
      text += this.#event('content_block_stop', {})
      this.#blocks.shift()
      this.#isOpen = false
      this.#index++
    }
    if (this.#blocks.length < 2) this.#waiting = 0
    return text
  }

  #event(type: string, members: JsonObject): string {
    return messageEvent({ type, index: this.#index, ...members })
  }
}

/** Far more than any response has. */
const maxWaiting = 16 * 1024 * 1024
