// The contract of a translated call: the edge sends `body`, and passes the provider's response to `response`
// or, for a stream, to `events`.

export interface Translation {
  /** The request in the provider's API. */
  readonly body: Buffer
  /**
   * The members of the request that were left out although they have no equivalent, as
   * `messages[].content[].cache_control`.
   */
  readonly dropped: readonly string[]
  /** Turns a whole 2xx JSON response into the caller's API; null when it cannot be understood. */
  response(json: string): string | null
  /** Makes the translator for one 2xx event stream; each stream needs its own. */
  events(): EventTranslator
}

export interface EventTranslator {
  /**
   * Takes bytes cut anywhere, also within a character, and returns the text to send on at once; '' for none.
   */
  push(bytes: Buffer): string
  /** Ends the provider's stream, and returns what is still to be sent. */
  end(): string
  /**
   * False until the provider's terminal event: a stream that ends before it must look truncated to the
   * caller.
   */
  readonly isComplete: boolean
  /**
   * Whether something arrived that cannot be translated, so that nothing more will be sent and reading
   * further is pointless.
   */
  readonly isBroken: boolean
}
