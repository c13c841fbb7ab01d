// A translated call: the edge sends `body`, and passes the provider's response to `response` or, for a
// stream, to `events`.

export interface Translation {
  readonly body: Buffer
  /** The members left out although they have no equivalent, as `messages[].content[].cache_control`. */
  readonly dropped: readonly string[]
  /** Takes a whole 2xx JSON response; null when it cannot be understood. */
  response(json: string): string | null
  /** For one 2xx event stream. */
  events(): EventTranslator
}

export interface EventTranslator {
  /** Takes bytes cut anywhere, and returns the text to send on at once; '' for none. */
  push(bytes: Buffer): string
  /** Ends the provider's stream, and returns what is still to be sent. */
  end(): string
  /**
   * False until the provider's terminal event: a stream that ends before it must look truncated to the
   * caller.
   */
  readonly isComplete: boolean
  /** Something cannot be translated: nothing more will be sent, and reading further is pointless. */
  readonly isBroken: boolean
}
