// The way to the client of a response whose head is written once its body is known.

import type { ResponseSink } from '../exchange/exchange.ts'

export class DeferredSink implements ResponseSink {
  readonly #open: () => ResponseSink
  #sink: ResponseSink | null = null

  constructor(open: () => ResponseSink) {
    this.#open = open
  }

  get hasBegun(): boolean {
    return this.#sink?.hasBegun === true
  }

  data(bytes: Buffer): boolean {
    return this.#opened.data(bytes)
  }

  flush(): boolean {
    return this.#sink === null || this.#sink.flush()
  }

  end(trailers: readonly string[] | null): void {
    this.#opened.end(trailers)
  }

  get #opened(): ResponseSink {
    this.#sink ??= this.#open()
    return this.#sink
  }
}
