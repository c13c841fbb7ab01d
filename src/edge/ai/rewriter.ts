// What becomes of the body of a provider's response on its way to the client.

/** What becomes of the body of one response. */
export interface Rewriter {
  /** Whether nothing may be sent before the end, which can still turn out to be an error. */
  readonly holdsHead: boolean
  /** Takes bytes as they come; gives those to send on at once; false for more than can be kept. */
  push(bytes: Buffer): Buffer | null | false
  /** Returns what is still to be sent; false when the response can't be understood, or ended before it was whole. */
  end(): Buffer | null | false
}
