// A route's changes to requests and responses.

/** Sets a header to the value of an expression (CEL, a string), or removes it without one. */
export interface HeaderRewrite {
  readonly name: string // as it will be sent
  readonly value: string | null
}

export interface RewriteConfig {
  /** CEL, a string: path and query for the origin; null leaves them unchanged. */
  readonly path: string | null
  readonly requestHeaders: readonly HeaderRewrite[]
  readonly responseHeaders: readonly HeaderRewrite[]
}
