// What a route changes about requests and responses.

/** Sets a header to what an expression (CEL, a string) gives, or removes it where there is none. */
export interface HeaderRewrite {
  readonly name: string // as it will be sent
  readonly value: string | null
}

export interface RewriteConfig {
  /** CEL, a string: path and query that the origin sees; null leaves them. */
  readonly path: string | null
  readonly requestHeaders: readonly HeaderRewrite[]
  readonly responseHeaders: readonly HeaderRewrite[]
}
