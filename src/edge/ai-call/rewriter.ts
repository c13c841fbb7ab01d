// The interface of what rewrites a provider's response on its way to the client.

export interface Rewriter {
  /** Whether the head must wait for the end of the body, which may still turn out to be an error. */
  readonly holdsHead: boolean
  /**
   * Takes bytes as they arrive; returns those to send at once, or false if they exceed what can be buffered.
   */
  push(bytes: Buffer): Buffer | null | false
  /** Returns what is left to send; false if the response cannot be understood, or ended early. */
  end(): Buffer | null | false
}
