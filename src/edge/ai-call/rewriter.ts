// The interface of what rewrites a provider's response on its way to the client.

export interface Rewriter {
  /** The end of the body may still turn it into an error. */
  readonly holdsHead: boolean
  /** False if the bytes exceed what can be buffered. */
  push(bytes: Buffer): Buffer | null | false
  /** False if the response cannot be understood, or ended early. */
  end(): Buffer | null | false
}
