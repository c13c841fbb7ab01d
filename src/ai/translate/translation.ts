// What a translated call promises: the edge sends `body`, and gives the provider's response to `answer` or, where it is a stream, to `events`.

export interface Translation {
  /** The request in the provider's API. */
  readonly body: Buffer
  /** Turns a whole 2xx JSON response into the caller's API; null when it can't be understood. */
  answer(json: string): string | null
  /** Makes the translator of one 2xx event stream; each stream needs one of its own. */
  events(): EventTranslator
}

export interface EventTranslator {
  /** Takes bytes cut anywhere, also inside a character, and gives the text to send on at once; '' for none. */
  push(bytes: Buffer): string
  /** Takes the end of the provider's stream, and returns what is still to be sent. */
  end(): string
  /** False until the provider's terminal event: a stream that ends before it must look cut to the caller. */
  readonly isComplete: boolean
  /** Whether something came that can't be told on, so that nothing more will: there is no use in reading further. */
  readonly isBroken: boolean
}
