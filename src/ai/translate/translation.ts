// A translated call, as the edge makes it.

import { SseReader } from '../parsing/sse.ts'
import { readObject } from './json.ts'

export interface Translation {
  readonly body: Buffer
  /** The members left out although they have no equivalent, as `messages[].content[].cache_control`. */
  readonly dropped: readonly string[]
  /** Takes a whole 2xx JSON response; null when it cannot be understood. */
  response(json: string): string | null
  /** Takes the body of an error; null when it has no message. Absent if both APIs write errors alike. */
  failure?(json: string, status: number): string | null
  events(): EventTranslator
}

export abstract class EventTranslator {
  readonly #reader = new SseReader()
  #size = 0
  protected state: 'new' | 'open' | 'complete' | 'broken' = 'new'

  /** False until the provider's terminal event: a stream without it must look truncated to the caller. */
  get isComplete(): boolean {
    return this.state === 'complete'
  }

  /** Something cannot be translated: nothing more will be sent, and reading further is pointless. */
  get isBroken(): boolean {
    return this.state === 'broken' || this.#reader.isOverfull
  }

  /** Takes bytes cut anywhere, and returns the text to send on at once; '' for none. */
  push(bytes: Buffer): string {
    this.#size += bytes.length
    if (this.#size > maxStream) return this.break()
    let text = ''
    this.#reader.push(bytes, (_name, data) => {
      text += this.#takeNext(data)
    })
    return text
  }

  end(): string {
    let text = ''
    this.#reader.end((_name, data) => {
      if (this.isWhole(data)) text += this.#takeNext(data)
    })
    return text
  }

  #takeNext(data: string): string {
    return this.state === 'complete' || this.state === 'broken' ? '' : this.take(data)
  }

  protected abstract take(data: string): string

  /** Whether the data of an unterminated event came to its end. */
  protected isWhole(data: string): boolean {
    return readObject(data) !== null
  }

  /** A gap in the stream: the caller must not take the rest for complete. */
  protected break(): string {
    this.state = 'broken'
    return ''
  }
}

/** Bytes, far more than any response has: its end may repeat all of it, so that it is retained. */
const maxStream = 64 * 1024 * 1024
