// Rewrites the body of a provider's response on its way to the client.

/** Rewrites the body of one response. */
export interface Rewriter {
  /** Whether nothing may be sent before the end, which may still turn out to be an error. */
  readonly holdsHead: boolean
  /** Takes bytes as they arrive; returns those to send on at once; false for more than can be buffered. */
  push(bytes: Buffer): Buffer | null | false
  /** Returns what is still to be sent; false when the response cannot be understood, or ended early. */
  end(): Buffer | null | false
}
